import type { EventHead } from './event.js';
import { ALL_RESOURCES } from '../../subscriptions/domain/event-kinds.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

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
  if (webhook.event !== event.event) return 'other_event';
  const resources = webhook.resource.split(',');
  const isCovered = resources.includes(ALL_RESOURCES) || resources.includes(event.resource);
  return isCovered ? 'changed_later' : 'other_resource';
}
