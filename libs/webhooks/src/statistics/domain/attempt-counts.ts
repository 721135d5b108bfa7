import type { Attempt } from '../../deliveries/domain/delivery.js';

/** The width of the finest time bucket, in ms. */
export const STEP_MS = 300_000;
/** The ratio of the limits of a bin of answer times, so a percentile is off by a tenth at most. */
const RATIO = 1.2;

/** The outcome of an attempt: the class of its status, or its error if there was no answer. */
export function outcomeOf({
  status,
  error = 'protocol',
}: Pick<Attempt, 'status' | 'error'>): string {
  return status === undefined ? error : `${Math.floor(status / 100)}xx`;
}

/** An attempt to count. */
export interface CountedAttempt {
  accountId: string;
  webhookId: string;
  attempt: Pick<Attempt, 'at' | 'status' | 'error' | 'durationMs'>;
}

/** How many attempts of a time bucket had an outcome and an answer time. */
export interface AttemptCount {
  /** The number of the time bucket. */
  bucket: number;
  outcome: string;
  /** Of its answer time; 0 without an answer. */
  bin: number;
  count: number;
}

/** The bin of an answer time. Bin 0 is less than 1 ms, bin 1 is 1 to 1.2 ms, and so on. */
export function binOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / Math.log(RATIO));
}

/** Whether it is the outcome of an attempt with an answer. */
export function isAnswer(outcome: string): boolean {
  return /^\dxx$/.test(outcome);
}

/**
 * Estimates a percentile, in ms.
 * @param bins how many answers each bin has, in ascending order of bins; not empty
 */
export function percentileOf(
  bins: readonly (readonly [bin: number, count: number])[],
  share: number,
) {
  const rank = share * bins.reduce((sum, [, count]) => sum + count, 0);
  let before = 0;
  for (const [bin, count] of bins) {
    if (before + count >= rank) {
      const [lower, upper] = [bin === 0 ? 0 : RATIO ** (bin - 1), RATIO ** bin];
      const estimate = lower + ((rank - before) / count) * (upper - lower);
      return Math.round(estimate * 10) / 10;
    }
    before += count;
  }
  throw new Error('there are no answers');
}
