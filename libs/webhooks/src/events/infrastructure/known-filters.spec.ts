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

it('returns the filters of a kind until they are too old', () => {
  const set = small();
  known.set('kind', '1', set);
  now = 599_999;
  expect([known.get('kind'), known.get('other'), known.isEmpty]).toEqual([set, undefined, false]);
  now = 600_000;
  expect([known.get('kind'), known.isEmpty]).toEqual([undefined, true]);
});

it('forgets only filters of an account that has many', () => {
  known.set('theirs', '1', small());
  for (let kind = 0; kind < 100; kind += 1) known.set(String(kind), '2', large());
  expect(known.get('theirs')).toBeDefined();
  expect([known.get('98'), known.get('99')]).toEqual([undefined, expect.any(FilterSet)]);
});

it('forgets the oldest filters when those of all accounts are too many', () => {
  for (let account = 0; account < 20; account += 1) {
    known.set(`kind of ${account}`, String(account), large());
  }
  const kept = Array.from({ length: 20 }, (_, account) => account).filter((account) =>
    known.get(`kind of ${account}`),
  );
  expect(kept).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
});

it('gives the verdict of each filter by its id', () => {
  const set = new FilterSet(['{"a":1}', '{"a":2}']);
  expect(set.verdictsOn('{"a":2}')).toMatch(/^![\w-]{22}=[\w-]{22}$/);
});
