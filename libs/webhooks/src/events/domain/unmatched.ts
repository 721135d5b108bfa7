import type { EventHead } from './event.js';
import { ALL_RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

/**
 * How long before the creation of a subscription an event may have happened to be sent to it. Lists of its
 * deliveries begin a day earlier.
 */
const MAX_DAYS_BEFORE = 30;
const DAY_MS = 86_400_000;

/** Why an event cannot be sent to a subscription. */
export type Mismatch =
  'created_much_later' | 'other_application' | 'other_event' | 'other_resource' | 'test';

/**
 * Why a subscription has no delivery of an event, judged by its present state: it was created later, is
 * off, or is for another event or resource. If it matches now, it was changed since.
 */
export type UnmatchedReason =
  'created_later' | 'disabled' | 'other_event' | 'other_resource' | 'changed_later';

/** A subscription without a delivery of an event. */
export interface Unmatched {
  webhookId: string;
  reason: UnmatchedReason;
}

/** The reason for a subscription of the event's account or application. */
export function unmatchedReason(
  event: Pick<EventHead, 'event' | 'resource' | 'createdAt'>,
  webhook: Pick<Webhook, 'event' | 'resource' | 'enabled' | 'createdAt'>,
): UnmatchedReason {
  if (webhook.createdAt > event.createdAt) return 'created_later';
  if (!webhook.enabled) return 'disabled';
  return contentMismatch(event, webhook) ?? 'changed_later';
}

/** Why an event cannot be sent to a subscription of its account. */
export function mismatchOf(
  event: Pick<EventHead, 'event' | 'resource' | 'applicationId' | 'createdAt' | 'test'>,
  webhook: Pick<Webhook, 'event' | 'resource' | 'applicationId' | 'createdAt'>,
): Mismatch | undefined {
  if (event.test) return 'test';
  if (webhook.applicationId !== null && webhook.applicationId !== event.applicationId) {
    return 'other_application';
  }
  const msBefore = webhook.createdAt.getTime() - event.createdAt.getTime();
  if (msBefore > MAX_DAYS_BEFORE * DAY_MS) return 'created_much_later';
  return contentMismatch(event, webhook);
}

function contentMismatch(
  event: Pick<EventHead, 'event' | 'resource'>,
  webhook: Pick<Webhook, 'event' | 'resource'>,
): 'other_event' | 'other_resource' | undefined {
  if (webhook.event !== event.event) return 'other_event';
  const resources = webhook.resource.split(',');
  const isCovered = resources.includes(ALL_RESOURCES) || resources.includes(event.resource);
  return isCovered ? undefined : 'other_resource';
}
