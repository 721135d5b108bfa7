import type { EventHead } from './event.js';
import { ALL_RESOURCES } from '../../subscriptions/domain/event-kinds.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

/**
 * Why a subscription was not told of an event, as far as it shows now: it came later, is off, is
 * for another event or resource; or it would match, and so was changed since.
 */
export type UnmatchedReason =
  'created_later' | 'disabled' | 'other_event' | 'other_resource' | 'changed_later';

/** A subscription that was not told of an event. */
export interface Unmatched {
  webhookId: string;
  reason: UnmatchedReason;
}

/** The reason for a subscription, of the event's account or application, without a delivery. */
export function unmatchedReason(
  event: Pick<EventHead, 'event' | 'resource' | 'createdAt'>,
  webhook: Pick<Webhook, 'event' | 'resource' | 'enabled' | 'createdAt'>,
): UnmatchedReason {
  if (webhook.createdAt > event.createdAt) return 'created_later';
  if (!webhook.enabled) return 'disabled';
  if (webhook.event !== event.event) return 'other_event';
  const resources = webhook.resource.split(',');
  const isCovered = resources.includes(ALL_RESOURCES) || resources.includes(event.resource);
  return isCovered ? 'changed_later' : 'other_resource';
}
