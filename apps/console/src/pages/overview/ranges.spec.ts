import { expect, it } from 'vitest';
import { bucketsOf, rangeOf } from './ranges.js';

const now = Date.parse('2026-01-31T12:34:56.789Z');

it.each([
  ['hour', '2026-01-31T11:30:00.000Z', 13],
  ['day', '2026-01-30T12:30:00.000Z', 49],
  ['week', '2026-01-24T12:00:00.000Z', 57],
] as const)('asks for the last %s from a full bucket on', (range, since, buckets) => {
  expect(bucketsOf(range, now)).toEqual({ since, buckets });
});

it('shows the last hour unless the address has a range', () => {
  expect([rangeOf('week'), rangeOf('year'), rangeOf(null)]).toEqual(['week', 'hour', 'hour']);
});
