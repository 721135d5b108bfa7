import { expect, it } from 'vitest';
import { standingRows } from './standing-rows.js';

/** Rows such as `a1`: a key, and what may change. */
const rows = (text: string) => text.split(' ').filter((row) => row !== '');
const standing = (shown: string, next: string) => {
  const { rows: stood, held } = standingRows(rows(shown), rows(next), ([key]) => key!);
  return `${stood.join(' ')}, ${held} new`;
};

it.each([
  ['keeps rows of a list that has not changed', 'a1 b1', 'a1 b1', 'a1 b1, 0 new'],
  ['holds new rows back', 'b1 c1', 'x1 a1 b1 y1 c1', 'b1 c1, 3 new'],
  ['changes rows in place', 'a1 b1', 'a1 b2', 'a1 b2, 0 new'],
  ['keeps the order', 'a1 b1 c1', 'c1 a2 b1', 'a2 b1 c1, 0 new'],
  ['keeps rows that the list has lost', 'a1 b1 c1', 'a1 c1', 'a1 b1 c1, 0 new'],
  ['adds the next page', 'b1 c1', 'a1 b1 c1 d1 e1', 'b1 c1 d1 e1, 1 new'],
  ['holds a list back that has none of the rows', 'a1 b1', 'x1 y1 z1', 'a1 b1, 3 new'],
])('%s', (_, shown, next, expected) => {
  expect(standing(shown, next)).toBe(expected);
});
