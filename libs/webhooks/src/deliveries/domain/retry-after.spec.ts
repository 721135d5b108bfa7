import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { retryAfter } from './retry-after.js';

const now = new Date('2026-11-21T12:00:00.500Z');

it('reads seconds', () => {
  expect(retryAfter('120', now)).toBe(120_000);
  expect(retryAfter(' 7 ', now)).toBe(7_000);
});

it('reads the three forms of an HTTP date', () => {
  expect(retryAfter('Sat, 21 Nov 2026 12:01:00 GMT', now)).toBe(59_500);
  expect(retryAfter('Saturday, 21-Nov-26 12:01:00 GMT', now)).toBe(59_500);
  expect(retryAfter('Sat Nov 21 12:01:00 2026', now)).toBe(59_500);
});

it('reads dates in GMT, whatever the local time zone', () => {
  vi.stubEnv('TZ', 'America/New_York');
  try {
    expect(retryAfter('Sat Nov 21 12:01:00 2026', now)).toBe(59_500);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('waits at most a day', () => {
  expect(retryAfter('99999999999999999999', now)).toBe(86_400_000);
  expect(retryAfter('Sat, 21 Nov 2099 12:01:00 GMT', now)).toBe(86_400_000);
});

it.each([
  undefined,
  '',
  '0',
  '-1',
  '1.5',
  'soon',
  '2026-11-22',
  'Sat, 21 Nov 2026 11:59:59 GMT',
  '0x10',
  'NaN',
])('ignores %s', (header) => {
  expect(retryAfter(header, now)).toBeUndefined();
});

const DAY_MS = 86_400_000;

it('returns a wait of up to a day, or none, for any header', () => {
  const header = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789 ,:-+.eExMonFriJanDecGMTZ')) }),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.double().map(String),
    fc.bigInt().map(String),
  );
  fc.assert(
    fc.property(header, (text) => {
      const wait = retryAfter(text, now);
      if (wait === undefined) return;
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(DAY_MS);
    }),
    { numRuns: 1_000 },
  );
});

it('is exact for any number of seconds and any date of the next day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 86_400 }), fc.nat(3), (seconds, zeros) => {
      expect(retryAfter('0'.repeat(zeros) + String(seconds), now)).toBe(seconds * 1_000);
      const date = new Date(now.getTime() - 500 + seconds * 1_000);
      expect(retryAfter(date.toUTCString(), now)).toBe(seconds * 1_000 - 500);
    }),
  );
});
