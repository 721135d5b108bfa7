import type { Steps } from '#libs/kernel';
import { type Filter, Filters } from './filter.js';
import {
  ALL_ACCOUNTS,
  ALL_RESOURCES,
  type EventKind,
  type EventResource,
  isNoticeKind,
} from './event-kinds.js';

/**
 * Which subscriptions an event is sent to: the one rule, in TypeScript for an event and a subscription, and in SQL for
 * the statements that create deliveries. matching.int-spec.ts proves that both decide alike. Data are judged by
 * `Filter` alone, whose verdicts statements get.
 */

/** How long before the creation of a subscription an event may have been accepted to be sent to it. */
export const MAX_DAYS_BEFORE = 30;
const DAY_MS = 86_400_000;

interface MatchedEvent {
  event: EventKind;
  resource: EventResource;
  applicationId?: string;
  createdAt: Date;
  /** Whether it is a test, which is sent to the tested subscription only. */
  test: boolean;
}

/** An event, and its data if {@link isJudgedByData}. */
export type JudgedEvent = MatchedEvent & { data?: string };

interface MatchedSubscription {
  event: EventKind;
  /** As `parseResources` returns it. */
  resource: string;
  filter: Filter | null;
  /** Null at account level. */
  applicationId: string | null;
  enabled: boolean;
  createdAt: Date;
}

/** A subscription that may have missed events of its account. */
export type MissingSubscription = Omit<MatchedSubscription, 'enabled'> & ToldSubscription;

/** What decides which notices of its account a subscription gets. */
interface ToldSubscription {
  id: string;
  accountId: string;
  accounts: typeof ALL_ACCOUNTS | null;
}

/** Why an event cannot be sent to a subscription. */
export type Mismatch =
  'created_much_later' | 'other_application' | 'other_event' | 'other_resource' | 'filter' | 'test';

/** Why an event cannot be sent to a subscription of its account; undefined if it can, once that is enabled. */
export function* mismatchOf(
  event: JudgedEvent,
  subscription: Omit<MatchedSubscription, 'enabled'>,
): Steps<Mismatch | undefined> {
  if (event.test) return 'test';
  const { applicationId, createdAt } = subscription;
  if (applicationId !== null && applicationId !== event.applicationId) return 'other_application';
  const msBefore = createdAt.getTime() - event.createdAt.getTime();
  if (msBefore > MAX_DAYS_BEFORE * DAY_MS) return 'created_much_later';
  const mismatch = kindMismatch(event, subscription);
  if (mismatch) return mismatch;
  const { filter } = subscription;
  return filter && !(yield* filter.matches(event.data ?? '{}')) ? 'filter' : undefined;
}

/**
 * Whether a subscription has missed an event of its account of which it has no delivery. Statements only select what may
 * be missed, so that each event is judged here.
 */
export function* isMissedBy(subscription: MissingSubscription, event: JudgedEvent): Steps<boolean> {
  return (yield* mismatchOf(event, subscription)) === undefined && isToldOf(event, subscription);
}

/** Whether {@link isMissedBy} needs the data of events. */
export function isJudgedByData({ event, filter }: MissingSubscription): boolean {
  return filter !== null || isNoticeKind(event);
}

/**
 * Whether a subscription to notices may get this one: not about itself, and about another account's subscription only if
 * it is told of all accounts. True for other events.
 */
export function isToldOf(
  { event, data = '{}' }: Pick<JudgedEvent, 'event' | 'data'>,
  { id, accountId, accounts }: ToldSubscription,
): boolean {
  if (!isNoticeKind(event)) return true;
  // Notices of version 1.1 name no account: they are about the account's own subscriptions.
  const about = JSON.parse(data) as { webhookId?: string; accountId?: string };
  const isOwn = about.accountId === undefined || about.accountId === accountId;
  return about.webhookId !== id && (isOwn || accounts === ALL_ACCOUNTS);
}

/** The earliest time of events that a subscription can have missed. */
export function earliestMissed({ createdAt }: MissingSubscription): Date {
  return new Date(createdAt.getTime() - MAX_DAYS_BEFORE * DAY_MS);
}

function kindMismatch(
  { event, resource }: Pick<JudgedEvent, 'event' | 'resource'>,
  subscription: Pick<MatchedSubscription, 'event' | 'resource'>,
): 'other_event' | 'other_resource' | undefined {
  if (subscription.event !== event) return 'other_event';
  return covers(subscription.resource, resource) ? undefined : 'other_resource';
}

/** Whether the resources of a subscription include this one. */
export function covers(resources: string, resource: string): boolean {
  return resources.split(',').some((one) => one === ALL_RESOURCES || one === resource);
}

/** {@link covers} in SQL, for two expressions. */
export function coversSql(resources: string, resource: string): string {
  return `(${resources} = '${ALL_RESOURCES}' OR ${resource} = ANY (string_to_array(${resources}, ',')))`;
}

/**
 * The subscriptions `w` that an event is sent to when it is accepted, unless their filters exclude it, as FROM and WHERE.
 * Reads the subscriptions of the account's level and of the application's level, each by its index.
 * @param event the name of a row with the columns account_id, application_id, event and resource
 */
export function fromMatching(event: string): string {
  return `FROM (
      SELECT * FROM webhooks
      WHERE account_id = ${event}.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks
      WHERE application_id = ${event}.application_id AND deleted_at IS NULL
    ) w
    WHERE w.enabled AND w.event = ${event}.event
      AND ${coversSql('w.resource', `${event}.resource`)}`;
}

/**
 * Why a subscription has no delivery of an event, judged by its present state: it is for another event or resource, was
 * created later, is off, or has a filter that excludes it. If it matches now, it was changed since.
 */
export type UnmatchedReason =
  'other_event' | 'other_resource' | 'created_later' | 'disabled' | 'filter' | 'changed_later';

/**
 * Why subscriptions of the event's account or application have no delivery of it. Kind and resource come first: a
 * subscription for others would not have got the event even if it had existed and been enabled.
 */
export function* unmatchedReasons(
  event: Pick<JudgedEvent, 'event' | 'resource' | 'createdAt'> & { data: string },
  subscriptions: readonly Omit<MatchedSubscription, 'applicationId'>[],
): Steps<UnmatchedReason[]> {
  const reasons = subscriptions.map((subscription) => reasonBesideData(event, subscription));
  const filters = subscriptions.flatMap(({ filter }, index) =>
    reasons[index] === undefined && filter ? [filter] : [],
  );
  // Together, so that the data are read once.
  const verdicts = (yield* (yield* Filters.of(filters)).judge(event.data)).values();
  return subscriptions.map(({ filter }, index) => {
    const isExcluded = reasons[index] === undefined && filter && verdicts.next().value !== true;
    return reasons[index] ?? (isExcluded === true ? 'filter' : 'changed_later');
  });
}

function reasonBesideData(
  event: Pick<JudgedEvent, 'event' | 'resource' | 'createdAt'>,
  subscription: Omit<MatchedSubscription, 'applicationId'>,
): UnmatchedReason | undefined {
  const mismatch = kindMismatch(event, subscription);
  if (mismatch) return mismatch;
  if (subscription.createdAt > event.createdAt) return 'created_later';
  return subscription.enabled ? undefined : 'disabled';
}
