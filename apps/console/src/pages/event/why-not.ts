import type { Schemas } from '../../app/api.js';
import type { Report } from './event.queries.js';

type Subscription = Schemas['Webhook'];
type ApiReason = Schemas['Unmatched']['reason'];
type EventKind = Pick<Report, 'event' | 'resource' | 'applicationId'>;
type EventHead = EventKind & Pick<Report, 'createdAt' | 'deliveries' | 'unmatched'>;

/** A subscription that did not get an event, and the reason by its current settings. */
export interface WhyNot {
  webhookId: string;
  /** Undefined if it is unknown. */
  subscription: Subscription | undefined;
  reason: Reason;
  /** Details of the reason. */
  detail?: string;
  /** The time of the details. */
  at?: string;
}

type Reason = ApiReason | 'other_application';

/** The subscriptions that were not told for one reason. */
export interface WhyNotGroup {
  reason: Reason;
  title: string;
  /** Explains the reason, and what the customer can do. */
  sentence: string;
  all: readonly WhyNot[];
}

/** Reasons that a small change would remove come first. */
const ORDER: readonly Reason[] = [
  'disabled',
  'other_application',
  'created_later',
  'changed_later',
  'filter',
  'other_resource',
  'other_event',
];

/**
 * Every subscription that could have got an event and did not. The API omits subscriptions of other
 * applications; this adds those that cover the event.
 * @param subscriptions of the account, all of them
 */
export function whyNotOf(event: EventHead, subscriptions: readonly Subscription[]): WhyNot[] {
  const byId = new Map(subscriptions.map((one) => [one.id, one]));
  const answered = event.unmatched.map(({ webhookId, reason }) => {
    const subscription = byId.get(webhookId);
    return { webhookId, subscription, reason, ...detailOf(reason, subscription) };
  });
  const elsewhere = subscriptions
    .filter((one) => isElsewhere(event, one) && isForSuch(event, one))
    .map((subscription) => ({
      webhookId: subscription.id,
      subscription,
      reason: 'other_application' as const,
    }));
  const placeOf = ({ reason }: WhyNot): number => ORDER.indexOf(reason);
  return [...answered, ...elsewhere].sort((one, other) => placeOf(one) - placeOf(other));
}

/** Groups by reason, in the order of {@link ORDER}. */
export function groupsOf(event: EventHead, all: readonly WhyNot[]): WhyNotGroup[] {
  return ORDER.map((reason) => ({
    reason,
    title: TITLES[reason],
    sentence: SENTENCES[reason](event),
    all: all.filter((one) => one.reason === reason),
  })).filter((group) => group.all.length > 0);
}

/** Whether a missed event can be sent to a subscription now. */
export function canBeSent(event: EventKind, subscription: Subscription | undefined): boolean {
  return (
    subscription !== undefined &&
    !isElsewhere(event, subscription) &&
    isForSuch(event, subscription)
  );
}

function isElsewhere({ applicationId }: EventKind, subscription: Subscription): boolean {
  const { applicationId: own } = subscription;
  return own !== undefined && own !== applicationId;
}

function isForSuch({ event, resource }: EventKind, subscription: Subscription): boolean {
  return subscription.enabled && subscription.event === event && isAbout(subscription, resource);
}

function isAbout(subscription: Subscription, resource: string): boolean {
  const resources = subscription.resource.split(',');
  return resources.includes('all') || resources.includes(resource);
}

const TITLES: Record<Reason, string> = {
  disabled: 'Disabled',
  other_application: 'Other application',
  created_later: 'Created later',
  changed_later: 'Changed later',
  other_resource: 'Other resource',
  other_event: 'Other kind of event',
  filter: 'Excluded by its filter',
};

const SENTENCES: Record<Reason, (event: EventKind) => string> = {
  disabled: () => 'Enable a subscription to get later events. Then you can send it this one, too.',
  other_application: ({ applicationId }) =>
    applicationId === undefined
      ? 'This event belongs to no application.'
      : 'This event belongs to another application.',
  created_later: () => 'The subscription was created after this event. It gets later ones.',
  changed_later: () => 'The subscription matches now, and gets later events.',
  other_resource: ({ resource }) =>
    `This event is about ${resource}. To get these events, add ${resource} to the resources of a subscription.`,
  other_event: ({ event }) =>
    `This event is ${event}. To get these events, create another subscription, or change the event of one.`,
  filter: () =>
    'The data of this event does not meet the filter of the subscription. To get such events, change the filter.',
};

function detailOf(
  reason: Reason,
  subscription: Subscription | undefined,
): Pick<WhyNot, 'detail' | 'at'> {
  if (!subscription) return {};
  const { createdAt, updatedAt, disabledReason, disabledAt } = subscription;
  if (reason === 'created_later') return { detail: 'created', at: createdAt };
  if (reason === 'changed_later') return { detail: 'changed', at: updatedAt };
  if (reason !== 'disabled' || !disabledReason) return {};
  const detail = OFF[disabledReason];
  return disabledAt === undefined
    ? { detail }
    : { detail: `${detail}, disabled since`, at: disabledAt };
}

const OFF: Record<NonNullable<Subscription['disabledReason']>, string> = {
  gone: 'answered 410 Gone',
  failing: 'every attempt had failed for five days',
};
