const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A time range until now, and the width of its time buckets. */
const RANGES = {
  hour: { name: '1 h', before: 'the hour before', lengthMs: HOUR_MS, bucketMs: 5 * MINUTE_MS },
  day: { name: '24 h', before: 'the day before', lengthMs: 24 * HOUR_MS, bucketMs: 30 * MINUTE_MS },
  week: {
    name: '7 d',
    before: 'the week before',
    lengthMs: 7 * 24 * HOUR_MS,
    bucketMs: 3 * HOUR_MS,
  },
  month: {
    name: '30 d',
    before: 'the 30 days before',
    lengthMs: 30 * 24 * HOUR_MS,
    bucketMs: 12 * HOUR_MS,
  },
} as const;

export type Range = keyof typeof RANGES;

export const RANGE_NAMES = Object.entries(RANGES).map(([range, { name }]) => ({
  range: range as Range,
  name,
}));

/** The range that an address has; the last hour if it has none, or another. */
export function rangeOf(text: string | null): Range {
  return RANGE_NAMES.find(({ range }) => range === text)?.range ?? 'hour';
}

/** What as long a time before it is called. */
export const nameBefore = (range: Range): string => RANGES[range].before;

/** As long a time before it. */
export function timeBefore(range: Range, since: string): { since: string; until: string } {
  const start = new Date(Date.parse(since) - RANGES[range].lengthMs);
  return { since: start.toISOString(), until: since };
}

/** What the API is asked for: buckets that begin at full hours or parts of them, so that they stay the same. */
export function bucketsOf(range: Range, now: number): { since: string; buckets: number } {
  const { lengthMs, bucketMs } = RANGES[range];
  const since = Math.floor((now - lengthMs) / bucketMs) * bucketMs;
  return { since: new Date(since).toISOString(), buckets: lengthMs / bucketMs + 1 };
}
