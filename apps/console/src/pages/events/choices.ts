import { canBeSent } from '../event/why-not.js';
import type { Subscription } from '../overview/subscriptions.queries.js';
import type { Event } from './events.queries.js';

/** A subscription, and which of the selected events can be sent to it, oldest first. */
export interface Choice {
  subscription: Subscription;
  ids: readonly string[];
}

/**
 * The subscriptions that at least one of the events can be sent to; those that get most come first.
 * @param events newest first
 */
export function choicesOf(
  events: readonly Event[],
  subscriptions: readonly Subscription[],
): Choice[] {
  return subscriptions
    .map((subscription) => ({
      subscription,
      ids: events
        .filter((event) => canBeSent(event, subscription))
        .map(({ id }) => id)
        .reverse(),
    }))
    .filter(({ ids }) => ids.length > 0)
    .sort((one, other) => other.ids.length - one.ids.length);
}
