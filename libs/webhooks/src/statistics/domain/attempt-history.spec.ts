import { describe, expect, it } from 'vitest';
import { ValidationError } from '#libs/kernel';
import { bucketsOf, historyOf } from './attempt-history.js';

const at = (time: string) => new Date(`2026-01-31T${time}Z`);
const NOW = at('12:34:56').getTime();
const MINUTE_MS = 60_000;

describe('the buckets of a range', () => {
  it('cover the last hour by default, in whole steps of five minutes', () => {
    expect(bucketsOf({}, NOW)).toEqual({
      sinceMs: at('11:30:00').getTime(),
      widthMs: 10 * MINUTE_MS,
      count: 7,
    });
  });

  it('are exactly as many as requested if the range allows it', () => {
    const range = { since: at('11:00:00'), until: at('12:00:00'), buckets: 6 };
    expect(bucketsOf(range)).toMatchObject({ widthMs: 10 * MINUTE_MS, count: 6 });
  });

  it('are never more than requested', () => {
    for (let buckets = 1; buckets <= 500; buckets += 1) {
      const range = { since: at('00:01:00'), until: at('23:58:00'), buckets };
      expect(bucketsOf(range).count).toBeLessThanOrEqual(buckets);
    }
  });

  it('need a range that ends after it begins, and has at most 31 days', () => {
    const ended = { since: at('12:00:00'), until: at('12:00:00') };
    expect(() => bucketsOf(ended)).toThrow('until must be later than since');
    const long = { since: new Date('2025-12-31T11:00:00Z'), until: at('12:00:00') };
    expect(() => bucketsOf(long)).toThrow(ValidationError);
  });
});

it('shows empty buckets without answer times, and the equally long time before', () => {
  const buckets = { sinceMs: at('11:00:00').getTime(), widthMs: 5 * MINUTE_MS, count: 2 };
  const history = historyOf(buckets, [
    { bucket: 1, outcome: 'dns', bin: 0, count: 3 },
    { bucket: -2, outcome: 'timeout', bin: 0, count: 5 },
  ]);
  expect(history).toEqual({
    since: at('11:00:00'),
    until: at('11:10:00'),
    attempts: 3,
    outcomes: { dns: 3 },
    buckets: [
      { since: at('11:00:00'), until: at('11:05:00'), attempts: 0, outcomes: {} },
      { since: at('11:05:00'), until: at('11:10:00'), attempts: 3, outcomes: { dns: 3 } },
    ],
    before: {
      since: at('10:50:00'),
      until: at('11:00:00'),
      attempts: 5,
      outcomes: { timeout: 5 },
    },
  });
});
