import { expect, it } from 'vitest';
import { loneOf, middlesOf, type Series, spanNames, stacked, roundTop } from './chart-data.js';

const aSeries = (...values: (number | null)[]): Series => ({ name: '', colour: 'bad', values });

it('stacks bars', () => {
  expect(stacked([aSeries(1, null, 2), aSeries(3, 4, 0)])).toEqual([
    [1, 0, 2],
    [4, 4, 2],
  ]);
});

it('places a time range at its middle', () => {
  const span = { since: '1970-01-01T00:00:00.000Z', until: '1970-01-01T00:05:00.000Z' };
  expect(middlesOf([span])).toEqual([150]);
});

it('names the day of a time range only if the chart covers many hours', () => {
  const spanAt = (hour: number) => ({
    since: new Date(2026, 0, 31, hour, 0).toISOString(),
    until: new Date(2026, 0, 31, hour, 5).toISOString(),
  });
  expect(spanNames([spanAt(12)])[0]).toMatch(/^12:00\D* – 12:05/);
  expect(spanNames([spanAt(1), spanAt(12)])[1]).toMatch(/^Sat\D+12:00\D* – 12:05/);
});

it.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 4],
  [11, 12],
  [70, 80],
  [565, 600],
  [1_010, 1_200],
  [99_999, 100_000],
])('ends the axis for %d at %d, so that half of it is a whole number', (value, top) => {
  expect(roundTop(value)).toBe(top);
});

it('shows isolated values as points', () => {
  expect(loneOf([1, null, 2, 3, null, 4])).toEqual([0, 5]);
});
