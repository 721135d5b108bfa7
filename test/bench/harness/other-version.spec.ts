import { expect, it } from 'vitest';
import { compared } from './other-version.js';

const row = (what: string, ...values: number[]) => ({ what, values, unit: 'ms' });

it('follows each row with its ratio to the other version, round by round and without its bound', () => {
  const ours = [{ ...row('p50', 1, 6), bound: { atMost: 5 } }, row('new', 1)];
  expect(compared('v1', ours, [row('p50', 2, 3)])).toEqual([
    ours[0],
    { what: "p50: of v1's", values: [0.5, 2], unit: '' },
    row('new', 1),
  ]);
});
