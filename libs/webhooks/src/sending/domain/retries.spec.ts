import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { retryAfter, retryDelay } from './retries.js';

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

const SOON = [
  ['Sat, 21 Nov 2026 12:01:00 GMT', 'IMF-fixdate'],
  ['Saturday, 21-Nov-26 12:01:00 GMT', 'RFC 850'],
  ['Sat Nov 21 12:01:00 2026', 'asctime'],
  ['Sat, 21 Nov 2026 12:01:00', 'IMF-fixdate without a zone'],
  ['Saturday, 21-Nov-26 12:01:00', 'RFC 850 without a zone'],
  ['Sat, 21-Nov-2026 12:01:00', 'with dashes, without a zone'],
  ['21 Nov 2026 12:01:00', 'without weekday and zone'],
  ['Sat Nov 21 2026 12:01:00', 'the year before the time, without a zone'],
  ['sat, 21 nov 2026 12:01:00 gmt', 'in lower case'],
  ['Sat,  21 Nov 2026  12:01:00  GMT', 'with more blanks'],
  ['Sat, 21 Nov 2026 12:01:00 UTC', 'UTC'],
  ['Sat, 21 Nov 2026 12:01:00 UT', 'UT'],
  ['Sat, 21 Nov 2026 12:01:00Z', 'Z'],
  ['Sat, 21 Nov 2026 12:01:00 +0000', 'an offset of zero'],
  ['Sat, 21 Nov 2026 07:01:00 -0500', 'an offset'],
  ['Sat Nov 21 12:01:00 UTC 2026', 'the command date'],
  ['Sat Nov 21 17:31:00 +0530 2026', 'an offset before the year'],
  ['Sat Nov 21 2026 07:01:00 GMT-0500 (Eastern Standard Time)', 'a Date of JavaScript'],
  ['Sat Nov 21 2026 12:01:00 GMT+0000 (GMT)', 'a Date of JavaScript in GMT'],
] as const;

it.each(['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'])(
  'reads every form of a date alike where the local time zone is %s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    try {
      expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toMatch(zone.slice(0, 5));
      for (const [header, form] of SOON)
        expect([form, retryAfter(header, now)]).toEqual([form, 59_500]);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

it('reads the day of asctime with a blank', () => {
  expect(retryAfter('Sun Nov  1 12:01:00 2026', new Date('2026-11-01T12:00:00Z'))).toBe(60_000);
});

it('reads a leap second', () => {
  expect(retryAfter('Sat, 21 Nov 2026 12:00:60 GMT', now)).toBe(58_500);
});

it('reads a year of two digits as one at most fifty years away', () => {
  expect(retryAfter('Saturday, 21-Nov-76 12:01:00 GMT', now)).toBe(86_400_000);
  expect(retryAfter('Saturday, 21-Nov-77 12:01:00 GMT', now)).toBeUndefined();
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
  // Dates that mean something else in each zone, or nothing.
  'Sat, 21 Nov 2026 12:01:00 CET',
  'Sat, 21 Nov 2026 12:01:00 (GMT)',
  'Sat, 21 Nov 2026 11:01 PM',
  'Sat, 21 Nov 2026 12:01:00 PM',
  'Sat, 21 Foo 2026 12:01:00 GMT',
  'Sat, 41 Nov 2026 12:01:00 GMT',
  'Sat, 21 Nov 2026 32:01:00 GMT',
  'Sat, 21 Nov 2026 GMT',
])('ignores %s', (header) => {
  expect(retryAfter(header, now)).toBeUndefined();
});

it('ignores a date with thousands of blanks', () => {
  expect(retryAfter(`Sat, 21 Nov${' '.repeat(10_000)}2026 12:01:00 GMT`, now)).toBeUndefined();
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

it('varies each delay of the schedule by up to a fifth', () => {
  expect(retryDelay([5_000, 30_000], 1, 0.5)).toBe(5_000);
  expect(retryDelay([5_000, 30_000], 2, 0)).toBe(24_000);
  expect(retryDelay([5_000, 30_000], 2, 1)).toBe(36_000);
});

it('ends after the last delay, and at once if the schedule is empty', () => {
  expect(retryDelay([5_000], 2, 0.5)).toBeUndefined();
  expect(retryDelay([], 1, 0.5)).toBeUndefined();
});
