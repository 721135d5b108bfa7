import { beforeEach, expect, it } from 'vitest';
import { FilterSet, KnownFilters } from './known-filters.js';

let now: number;
let known: KnownFilters;

beforeEach(() => {
  now = 0;
  known = new KnownFilters(() => now);
});

/** A set of twenty filters of 4 KB. */
const large = () => new FilterSet(Array.from({ length: 20 }, () => `{"a":"${'x'.repeat(4_000)}"}`));
const small = () => new FilterSet(['{"a":1}']);

it('returns the filters of an audience until they are too old', () => {
  const set = small();
  known.set('audience', '1', set);
  now = 599_999;
  expect([known.get('audience'), known.get('other'), known.isEmpty]).toEqual([
    set,
    undefined,
    false,
  ]);
  now = 600_000;
  expect([known.get('audience'), known.isEmpty]).toEqual([undefined, true]);
});

it('forgets only filters of an account that has many', () => {
  known.set('theirs', '1', small());
  for (let audience = 0; audience < 100; audience += 1) known.set(String(audience), '2', large());
  expect(known.get('theirs')).toBeDefined();
  const kept = [96, 97, 98, 99].map((audience) => known.get(String(audience)) !== undefined);
  expect(kept).toEqual([false, true, true, true]);
});

it('forgets the oldest filters when those of all accounts are too many', () => {
  for (let account = 0; account < 40; account += 1) {
    known.set(`audience of ${account}`, String(account), large());
  }
  const isKept = (account: number) => known.get(`audience of ${account}`) !== undefined;
  expect([0, 13, 14, 39].map(isKept)).toEqual([false, false, true, true]);
});

it('gives the verdict of each filter by its id', () => {
  const set = new FilterSet(['{"a":1}', '{"a":2}']);
  expect(set.verdictsOn('{"a":2}')).toMatch(/^![\w-]{22}=[\w-]{22}$/);
});
