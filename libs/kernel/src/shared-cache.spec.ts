import { expect, it } from 'vitest';
import { SharedCache } from './shared-cache.js';

const isKept =
  <Key>(cache: Pick<SharedCache<Key, unknown>, 'get'>) =>
  (key: Key) =>
    cache.get(key) !== undefined;

it('keeps the few entries of a party while others have too many, and of these the newest', () => {
  const cache = new SharedCache<string, string>(100);
  cache.set('few', 'a', 'value');
  for (let n = 0; n < 300; n += 1) cache.set(`many ${n}`, n % 3 === 0 ? 'b' : 'c', 'value');
  const keys = ['few', 'many 0', 'many 1', 'many 298', 'many 299'];
  expect(keys.map(isKept(cache))).toEqual([true, false, false, true, true]);
});

it('keeps a tenth less than it may when every party has as many', () => {
  const cache = new SharedCache<number, number>(100);
  for (let n = 0; n <= 100; n += 1) cache.set(n, `party ${n}`, n);
  const kept = Array.from({ length: 101 }, (_, n) => n).filter(isKept(cache));
  expect([kept.length, kept.at(0), kept.at(-1)]).toEqual([90, 11, 100]);
});

it('cuts large shares to the same size', () => {
  const cache = new SharedCache<string, number>(100, (size) => size);
  for (let n = 0; n < 6; n += 1) cache.set(`a${n}`, 'a', 10);
  for (let n = 0; n < 3; n += 1) cache.set(`b${n}`, 'b', 10);
  cache.set('c', 'c', 11);
  const keys = ['a0', 'a1', 'a2', 'b0', 'c'];
  expect(keys.map(isKept(cache))).toEqual([false, false, true, true, true]);
});

it('counts an entry that replaces another once, as the newest', () => {
  const cache = new SharedCache<string, number>(10, (size) => size);
  cache.set('first', 'a', 4);
  cache.set('second', 'a', 4);
  cache.set('first', 'a', 5);
  expect(cache.get('first')).toBe(5);
  cache.set('third', 'a', 3);
  expect(['first', 'second', 'third'].map(isKept(cache))).toEqual([true, false, true]);
  for (const key of ['first', 'third']) cache.delete(key);
  expect(cache.isEmpty).toBe(true);
});

it('keeps nothing that is larger than all that it may keep', () => {
  const cache = new SharedCache<string, number>(10, (size) => size);
  cache.set('huge', 'a', 11);
  expect(cache.isEmpty).toBe(true);
});
