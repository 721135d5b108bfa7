const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A time range that ends now, and the width of its buckets. */
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

/** The range in the address; by default, the last hour. */
export function rangeOf(text: string | null): Range {
  return RANGE_NAMES.find(({ range }) => range === text)?.range ?? 'hour';
}

/** The name of the equally long range before it. */
export const nameBefore = (range: Range): string => RANGES[range].before;

/** When a range that ends now begins. @param now ms */
export const startOf = (range: Range, now: number): string =>
  new Date(now - RANGES[range].lengthMs).toISOString();

/** The API's parameters: buckets that start at full hours or fractions of them, so that they stay the same. */
export function bucketsOf(range: Range, now: number): { since: string; buckets: number } {
  const { lengthMs, bucketMs } = RANGES[range];
  const since = Math.floor((now - lengthMs) / bucketMs) * bucketMs;
  return { since: new Date(since).toISOString(), buckets: lengthMs / bucketMs + 1 };
}
