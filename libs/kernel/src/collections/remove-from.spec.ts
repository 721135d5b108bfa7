import { expect, it } from 'vitest';
import { removeFrom } from './remove-from.js';

it.each([
  ['a', ['c', 'b']],
  ['b', ['a', 'c']],
  ['c', ['a', 'b']],
  ['d', ['a', 'b', 'c']],
])('removes %s alone', (item, left) => {
  const items = ['a', 'b', 'c'];
  removeFrom(items, item);
  expect(items).toEqual(left);
});
