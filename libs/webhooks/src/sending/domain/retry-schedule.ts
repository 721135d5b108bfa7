/** Share of a delay by which it is randomly longer or shorter. */
const JITTER = 0.2;

/**
 * The delay in ms before the next attempt, or undefined if the schedule has ended.
 * @param failures failed attempts since the schedule started, at least 1
 * @param random a number from 0 to 1
 */
export function retryDelay(
  schedule: readonly number[],
  failures: number,
  random: number,
): number | undefined {
  const delay = schedule[failures - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)));
}
