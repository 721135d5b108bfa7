import { expect, it } from 'vitest';
import { Recent } from './recent.js';

it('remembers what was used last', () => {
  const recent = new Recent<number, string>(3);
  for (let key = 0; key < 3; key += 1) recent.set(key, String(key));
  for (let key = 10; key < 1_000; key += 1) {
    recent.set(key, String(key));
    expect(recent.get(0)).toBe('0');
  }
  expect([997, 998, 999].map((key) => recent.get(key))).toEqual(['997', '998', '999']);
});

it('forgets what was not used, so that it never has more than twice as much', () => {
  const recent = new Recent<number, string>(3);
  for (let key = 0; key < 100; key += 1) recent.set(key, String(key));
  const known = Array.from({ length: 100 }, (_, key) => key).filter((key) => recent.get(key));
  expect(known.length).toBeLessThanOrEqual(6);
});

it('has the latest value of a key', () => {
  const recent = new Recent<string, number>(1);
  recent.set('a', 1);
  recent.set('b', 1);
  recent.set('a', 2);
  expect([recent.get('a'), recent.get('b')]).toEqual([2, 1]);
  recent.delete('a');
  recent.delete('b');
  expect([recent.get('a'), recent.get('b')]).toEqual([undefined, undefined]);
});
