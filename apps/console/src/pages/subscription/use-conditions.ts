import { useNow } from '../../components/time.js';
import { type Conditions, conditionsOf, type Known } from './health.js';

/** {@link conditionsOf} at the present time. */
export function useConditions(known: Known, heldUntil?: string): Conditions {
  // As a text, so that the component is rendered again only when something changes.
  return JSON.parse(
    useNow((now) => JSON.stringify(conditionsOf(known, heldUntil, now))),
  ) as Conditions;
}
