import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { atOnce } from '#libs/kernel';
import { filterValidator } from '../../event-kinds/domain/filter.js';
import { FilterSet, KnownFilters } from './known-filters.js';

let now: number;
let known: KnownFilters;

beforeEach(() => {
  now = 0;
  known = new KnownFilters(() => now);
});

const setOf = (...texts: string[]) =>
  atOnce(FilterSet.of(texts.map((text, index) => ({ id: `id-${index}`, text }))));

/** A set of twenty filters of 4 KB, which counts as a third of a megabyte. */
const large = () => setOf(...Array.from({ length: 20 }, () => `{"a":"${'x'.repeat(4_000)}"}`));
const small = () => setOf('{"a":1}');

it('returns the filters of an audience until they are too old', () => {
  const set = small();
  known.set('audience', '1', set);
  now = 599_999;
  expect(known.get('audience')).toMatchObject({ set, accountId: '1' });
  expect([known.get('other'), known.isEmpty]).toEqual([undefined, false]);
  now = 600_000;
  expect([known.get('audience'), known.isEmpty]).toEqual([undefined, true]);
});

const isKept = (audience: string) => known.get(audience) !== undefined;

it('forgets the oldest filters of an account that has too many, and none of others', () => {
  known.set('theirs', '1', small());
  for (let audience = 0; audience < 100; audience += 1) known.set(String(audience), '2', large());
  expect(['theirs', '0', '40', '60', '99'].map(isKept)).toEqual([true, false, false, true, true]);
});

it('keeps the few filters of an account while several others have too many', () => {
  known.set('theirs', '1', small());
  for (let audience = 0; audience < 100; audience += 1) {
    known.set(String(audience), String(2 + (audience % 10)), large());
  }
  known.set('new', '12', small());
  expect(['theirs', 'new', '0', '99'].map(isKept)).toEqual([true, true, false, true]);
});

it('gives the verdict of each filter by its id', () => {
  expect(atOnce(setOf('{"a":1}', '{"a":2}').verdictsOn('{"a":2}'))).toBe('!id-0=id-1');
});

it('recognises a set by the ids of its filters', () => {
  const set = setOf('{"a":1}', '{"a":2}');
  const recognised = [['id-0', 'id-1'], ['id-1', 'id-0'], ['id-0'], ['id-0', 'id-1', 'id-2']];
  expect(recognised.map((ids) => set.hasIds(ids))).toEqual([true, false, false, false]);
});

const NAMES = Array.from('abcdefghij');
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
/** An object of all operators, as deep as conditions may be. */
const operators = (depth: number): object => ({
  ...{ gt: 1, gte: 1, lt: 1, lte: 1, prefix: '', exists: true },
  ...(depth > 1 && { not: operators(depth - 1) }),
});

/** Filters of about the longest text, or with the most of something. @param seed makes it differ from others */
const SHAPES: [what: string, filter: (seed: number) => object][] = [
  ['one member', (seed) => ({ a: seed })],
  [
    'three members',
    (seed) => ({ 'a.b': ['US', 'CA'], duration: { gte: seed }, carrier: { not: `x${seed}` } }),
  ],
  ['long arrays of numbers', (seed) => all(() => upTo(60).map((n) => n + seed * 100))],
  ['long arrays of short numbers', (seed) => all(() => upTo(100).map((n) => (n + seed) % 1_000))],
  ['long arrays of texts', (seed) => all(() => upTo(45).map((n) => `é${n}${seed}`))],
  ['wide characters', (seed) => all(() => upTo(30).map((n) => `\u4e00${n}${seed}`))],
  ['all operators', (seed) => all(() => operators(5), `${seed}`)],
  ['long paths', (seed) => all(() => seed, `${seed}.b.c.d.e`)],
  ['long names', (seed) => all(() => ({ prefix: 'é' }), `${seed}`.padEnd(180, 'é'))],
  ['a long text', (seed) => ({ a: `${seed}${'é'.repeat(1_900)}` })],
];

function all(condition: () => unknown, end = ''): object {
  return Object.fromEntries(NAMES.map((name) => [name + end, condition()]));
}

/** So many that what else the process does hardly counts. */
const MEASURED_BYTES = 4 << 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe.each([1, 20])('a set of %i filters', (count) => {
  it.each(SHAPES)('takes hardly more memory than it counts: %s', (_, shape) => {
    const texts = (set: number) =>
      // Copied, as they come from a database.
      upTo(count).map((n) => Buffer.from(JSON.stringify(shape(set * count + n))).toString());
    expect(texts(0).flatMap((text) => filterValidator.check(text))).toEqual([]);
    const used = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const make = () => {
      const sets: FilterSet[] = [];
      let bytes = 0;
      for (; bytes < MEASURED_BYTES; bytes += sets.at(-1)!.bytes) {
        sets.push(setOf(...texts(sets.length)));
      }
      return { sets, bytes };
    };
    make();
    const before = used();
    const { sets, bytes: counted } = make();
    const taken = used() - before;
    expect(sets.length).toBeGreaterThan(1);
    expect(taken).toBeLessThan(1.2 * counted);
    expect(counted).toBeLessThan(8 * taken);
  });
});
