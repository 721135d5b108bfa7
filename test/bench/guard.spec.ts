import { expect, it } from 'vitest';
import { losses, unguarded } from './guard.js';
import type { Result } from './harness/report.js';
import type { Bound } from './harness/scenario.js';

const row = (what: string, median: number, bound?: Bound, scenario = 'single'): Result => ({
  ...{ scenario, what, median, unit: '', values: [median] },
  ...(bound && { bound }),
});
const [atLeast, atMost] = [{ atLeast: 1 }, { atMost: 1 }];

it('allows a row to be worse by a quarter, in either direction', () => {
  const recorded = { rate: 100, cost: 100 };
  expect(losses([row('rate', 76, atLeast), row('cost', 124, atMost)], recorded)).toEqual([]);
  expect(losses([row('rate', 74, atLeast), row('cost', 126, atMost)], recorded)).toEqual([
    'rate: 74.000, and it was 100.000',
    'cost: 126.000, and it was 100.000',
  ]);
});

it('allows a row to be better by any amount', () => {
  const recorded = { rate: 100, cost: 100 };
  expect(losses([row('rate', 900, atLeast), row('cost', 1, atMost)], recorded)).toEqual([]);
});

it('allows more for rows that vary more', () => {
  const recorded = { 'p99 at half load': 10 };
  const rows = (p99: number) => [row('p99 at half load', p99, atMost)];
  expect(losses(rows(24), recorded)).toEqual([]);
  expect(losses(rows(26), recorded)).toHaveLength(1);
});

it('fails for a row that is not measured, has no value, or is not recorded', () => {
  expect(losses([], { gone: 1 })).toEqual(['gone: not measured']);
  expect(losses([row('empty', NaN, atMost)], { empty: 1 })).toHaveLength(1);
  expect(losses([row('new', 1, atMost)], {})).toEqual(['new: not recorded; --record does it']);
});

it('ignores rows without a bound', () => {
  expect(losses([row('rate', 1)], {})).toEqual([]);
});

it('ignores rows that only a whole run measures', () => {
  const left = row('cost of a delivery, 10 million stored / 10 thousand', 1, atMost, 'growth');
  expect(losses([left], {})).toEqual([]);
});

it('knows every row with a bound', () => {
  const left = row('cost of a delivery, 10 million stored / 10 thousand', 1, atMost, 'growth');
  expect(unguarded([row('rate', 1, atLeast), left, row('other', 1, undefined, 'soak')])).toEqual(
    [],
  );
  expect(unguarded([row('other', 1, atMost, 'soak')])).toHaveLength(1);
});
