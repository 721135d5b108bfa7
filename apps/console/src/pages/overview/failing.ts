import { type Condition, conditionsOf } from '../subscription/health.js';
import type { Subscription } from './subscriptions.queries.js';

export const isBad = ({ needsAttention }: Condition): boolean => needsAttention;

/** The subscriptions that need attention, longest first. */
export function failingOf(subscriptions: readonly Subscription[]): Subscription[] {
  return subscriptions
    .flatMap((subscription) => {
      const condition = conditionsOf(subscription, undefined, Date.now()).find(isBad);
      return condition ? [{ subscription, since: condition.since?.at ?? '' }] : [];
    })
    .sort((one, other) => (one.since < other.since ? -1 : 1))
    .map(({ subscription }) => subscription);
}
