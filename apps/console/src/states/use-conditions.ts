import { useNow } from '../components/time.js';
import { type Conditions, conditionsOf, type Known } from './subscription-state.js';

/** {@link conditionsOf} at the current time. */
export function useConditions(known: Known, heldUntil?: string): Conditions {
  // As text, so that the component renders only on a change.
  return JSON.parse(
    useNow((now) => JSON.stringify(conditionsOf(known, heldUntil, now))),
  ) as Conditions;
}
