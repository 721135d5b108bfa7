import { expect, it } from 'vitest';
import { median } from './distribution.js';

it.each([
  [[3, 1, 2], 2],
  [[4, 1], 2.5],
  [[4, 1, 2, 3], 2.5],
  [[], NaN],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});
