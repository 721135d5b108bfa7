import { expect, it } from 'vitest';
import { swapRemove, RoundRobin } from './collections.js';

it.each([
  ['a', ['c', 'b']],
  ['b', ['a', 'c']],
  ['c', ['a', 'b']],
  ['d', ['a', 'b', 'c']],
])('removes %s alone', (item, left) => {
  const items = ['a', 'b', 'c'];
  swapRemove(items, item);
  expect(items).toEqual(left);
});

it('returns its values in order, again and again', () => {
  const values = new RoundRobin<string, string>();
  for (const each of ['a', 'b', 'c']) values.add(each, each);
  const served = Array.from({ length: 7 }, () => values.next());
  expect(served).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a']);
});

it('puts added values last and skips removed ones', () => {
  const values = new RoundRobin<string, string>();
  for (const each of ['a', 'b', 'c']) values.add(each, each);
  expect(values.next()).toBe('a');
  values.remove('b');
  values.remove('a');
  values.add('d', 'd');
  values.add('a', 'a');
  expect(Array.from({ length: 5 }, () => values.next())).toEqual(['c', 'd', 'a', 'c', 'd']);
});

it('returns nothing while it is empty, and continues with the next value that is added', () => {
  const values = new RoundRobin<string, string>();
  expect(values.next()).toBeUndefined();
  values.add('a', 'a');
  expect(values.next()).toBe('a');
  values.remove('a');
  expect(values.next()).toBeUndefined();
  values.add('b', 'b');
  expect([values.next(), values.size, values.get('b')]).toEqual(['b', 1, 'b']);
});

it('starts with the first value after it was empty', () => {
  const values = new RoundRobin<string, string>();
  expect(values.next()).toBeUndefined();
  for (const each of ['a', 'b']) values.add(each, each);
  expect([values.next(), values.next(), values.next()]).toEqual(['a', 'b', 'a']);
});
