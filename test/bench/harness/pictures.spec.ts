import { expect, it } from 'vitest';
import { pictures } from './pictures.js';
import type { Result } from './report.js';
import { apart, linearTicks, logTicks, scale } from './svg.js';

const row = (scenario: string, what: string, median = 1, unit = ''): Result => ({
  ...{ scenario, what, median, unit, values: [median] },
});

it('maps values to pixels, logarithmically on demand', () => {
  expect(scale([0, 10], [100, 0])(5)).toBe(50);
  expect(scale([1, 100], [0, 200], Math.log10)(10)).toBe(100);
});

it('marks a logarithmic axis from below the lowest value to above the highest', () => {
  expect(logTicks([1.4, 43])).toEqual([1, 2, 5, 10, 20, 50]);
  expect(logTicks([2, 2])).toEqual([2, 5]);
});

it('marks a linear axis with few round numbers', () => {
  expect(linearTicks(3_000)).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500, 3_000]);
  expect(linearTicks(1)).toHaveLength(6);
});

it('keeps labels apart', () => {
  expect(apart([10, 20, 200], 50)).toEqual([10, 60, 200]);
});

it('escapes the names of rows', () => {
  const picture = pictures['cost-size.svg']!([row('growth', '<a> & b / c')]);
  expect(picture).toContain('&lt;a&gt; &amp; b / c');
  expect(picture).not.toContain('<a>');
});

it('tells which rows are missing or have no value', () => {
  const draw = pictures['rate-latency.svg']!;
  expect(() => draw([])).toThrow('no rows p50 of the scenario rates');
  expect(() => draw([row('rates', 'p50 at 100 a second', NaN)])).toThrow('not every round');
  expect(() => pictures['cpu.svg']!([])).toThrow('CPU for an event, API,');
});

it('draws only the ratios that belong to growth', () => {
  const all = [row('growth', 'a list, large / small'), row('growth', 'levels of a key', 3)];
  expect(pictures['cost-size.svg']!(all)).not.toContain('levels of a key');
});
