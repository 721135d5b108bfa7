import { expect, it } from 'vitest';
import { compared, merged } from './other-version.js';

const row = (what: string, ...values: number[]) => ({ what, values, unit: 'ms' });

it('puts the rounds of each row together, in order', () => {
  const bound = { atMost: 5 };
  const first = [{ ...row('p50', 1), bound }, row('p99', 10)];
  expect(merged([first, [row('p50', 2), row('p99', 20)]])).toEqual([
    { ...row('p50', 1, 2), bound },
    row('p99', 10, 20),
  ]);
});

it('follows each row with its ratio to the other version, round by round and without its bound', () => {
  const ours = [{ ...row('p50', 1, 6), bound: { atMost: 5 } }, row('new', 1)];
  expect(compared('v1', ours, [row('p50', 2, 3)])).toEqual([
    ours[0],
    { what: "p50: of v1's", values: [0.5, 2], unit: '' },
    row('new', 1),
  ]);
});
