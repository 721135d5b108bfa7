import { groupBy, ValidationError } from '#libs/kernel';
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

/** The subscription id of counts of all of an account's subscriptions. */
export const ALL_WEBHOOKS = '0';

/** The account id of counts of the whole installation, which have {@link ALL_WEBHOOKS}. No request can name it. */
export const INSTALLATION = '-1';

/** An attempt to count. */
export interface CountedAttempt {
  accountId: string;
  webhookId: string;
  attempt: Pick<Attempt, 'at' | 'status' | 'error' | 'durationMs'>;
}

/** How many attempts of a time bucket had an outcome and an answer time. */
export interface AttemptCount {
  /** The number of the time bucket; negative before the range. */
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
function isAnswer(outcome: string): boolean {
  return /^\dxx$/.test(outcome);
}

/**
 * Estimates a percentile, in ms.
 * @param bins how many answers each bin has, in ascending order of bins; not empty
 */
function percentileOf(bins: readonly (readonly [bin: number, count: number])[], share: number) {
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

/** Outcomes of attempts in a time range. */
export interface AttemptSummary {
  since: Date;
  until: Date;
  attempts: number;
  /** Attempts by outcome: `2xx` to `5xx`, or the error if there was no answer. */
  outcomes: Record<string, number>;
  /** Time until the answer's headers, in ms; absent without answers. */
  answerMs?: { p50: number; p95: number; p99: number };
}

/** A time range in buckets of one width, and the equally long time before it. */
export interface AttemptHistory extends AttemptSummary {
  buckets: AttemptSummary[];
  before: AttemptSummary;
}

/** A requested time range, in at most this many buckets. */
export interface HistoryRange {
  since?: Date;
  until?: Date;
  buckets?: number;
}

/** A time range whose limits are multiples of {@link STEP_MS}. */
export interface Buckets {
  sinceMs: number;
  widthMs: number;
  count: number;
}

export const MAX_BUCKETS = 500;
const DEFAULT_BUCKETS = 12;
export const HOUR_MS = 3_600_000;
const LONGEST_MS = 31 * 24 * HOUR_MS;

/** The default range of a subscription's statistics. */
export const lastDay = (): HistoryRange => ({
  since: new Date(Date.now() - 24 * HOUR_MS),
  buckets: 1,
});

/**
 * The buckets of a range: of whole steps, all of the same width, and at most as many as requested. By default,
 * the last hour.
 * @throws ValidationError
 */
export function bucketsOf(range: HistoryRange, now = Date.now()): Buckets {
  const until = range.until?.getTime() ?? now;
  const since = range.since?.getTime() ?? until - HOUR_MS;
  if (since >= until) {
    throw ValidationError.of(
      'until',
      'range',
      'The query parameter until must be later than since.',
    );
  }
  if (until - since > LONGEST_MS) {
    const message = 'The query parameter since must be at most 31 days before until.';
    throw ValidationError.of('since', 'range', message);
  }
  const sinceMs = Math.floor(since / STEP_MS) * STEP_MS;
  const steps = Math.ceil((until - sinceMs) / STEP_MS);
  const perBucket = Math.ceil(steps / (range.buckets ?? DEFAULT_BUCKETS));
  return { sinceMs, widthMs: perBucket * STEP_MS, count: Math.ceil(steps / perBucket) };
}

/** @param counts of the range, and of the equally long time before it */
export function historyOf(
  { sinceMs, widthMs, count }: Buckets,
  counts: readonly AttemptCount[],
): AttemptHistory {
  const [within, before] = [
    counts.filter(({ bucket }) => bucket >= 0),
    counts.filter(({ bucket }) => bucket < 0),
  ];
  const byBucket = groupBy(within, ({ bucket }) => bucket);
  const startOf = (bucket: number) => new Date(sinceMs + bucket * widthMs);
  const summary = (first: number, end: number, of: readonly AttemptCount[]): AttemptSummary => ({
    since: startOf(first),
    until: startOf(end),
    ...summaryOf(of),
  });
  return {
    ...summary(0, count, within),
    before: summary(-count, 0, before),
    buckets: Array.from({ length: count }, (_, bucket) =>
      summary(bucket, bucket + 1, byBucket.get(bucket) ?? []),
    ),
  };
}

function summaryOf(counts: readonly AttemptCount[]): Omit<AttemptSummary, 'since' | 'until'> {
  const outcomes = new Map<string, number>();
  const bins = new Map<number, number>();
  for (const { outcome, bin, count } of counts) {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
    if (isAnswer(outcome)) bins.set(bin, (bins.get(bin) ?? 0) + count);
  }
  const answers = [...bins].sort(([one], [other]) => one - other);
  return {
    attempts: counts.reduce((sum, { count }) => sum + count, 0),
    outcomes: Object.fromEntries([...outcomes].sort(([one], [other]) => (one < other ? -1 : 1))),
    ...(answers.length > 0 && {
      answerMs: {
        p50: percentileOf(answers, 0.5),
        p95: percentileOf(answers, 0.95),
        p99: percentileOf(answers, 0.99),
      },
    }),
  };
}
