import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tooDeepAt, tooManyValuesAt } from './json-limits.js';

const nested = (levels: number, open = '[', close = ']') =>
  open.repeat(levels) + close.repeat(levels);

it('finds the first bracket that is one level too deep', () => {
  expect(tooDeepAt(nested(3), 3)).toBe(-1);
  expect(tooDeepAt(nested(4), 3)).toBe(3);
  expect(tooDeepAt('{"a":{"b":[{"c":1}]}}', 4)).toBe(-1);
  expect(tooDeepAt('{"a":{"b":[{"c":1}]}}', 3)).toBe(11);
  expect(tooDeepAt('[[],[],[],[[]]]', 3)).toBe(-1);
});

it('ignores brackets inside strings', () => {
  const text = JSON.stringify({ '[[[[': '{{{{', '\\"[[': ['[[', '\\\\"{{'] });
  expect(tooDeepAt(text, 2)).toBe(-1);
  expect(tooManyValuesAt(text, 4)).toBe(-1);
});

it('finds the first value that is one too many', () => {
  expect(tooManyValuesAt('[1,2,3,4]', 4)).toBe(-1);
  expect(tooManyValuesAt('[1,2,3,4]', 3)).toBe(6);
  expect(tooManyValuesAt('{"a":1,"b":[2,3]}', 4)).toBe(-1);
  expect(tooManyValuesAt('{"a":1,"b":[2,3]}', 3)).toBe(13);
});

it.each(['["', '["\\"', '{"a', '[[["x', '",",",'])(
  'terminates on %j, which is not JSON',
  (text) => {
    expect(tooManyValuesAt(text.repeat(50), 10)).toBeGreaterThanOrEqual(-1);
  },
);

/** The depth of a value, counted the simple way. */
function levels(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levels));
}

function values(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return Math.max(1, members.length) + members.map(values).reduce((sum, count) => sum + count, 0);
}

it('finds the same depth and number of values as JSON.parse', () => {
  const blanks = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), blanks, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const parsed: unknown = JSON.parse(text);
      for (const most of [0, 1, 2, 3, 5, 8]) {
        expect(tooDeepAt(text, most) >= 0).toBe(levels(parsed) > most);
        expect(tooManyValuesAt(text, most) >= 0).toBe(values(parsed) > most);
      }
    }),
  );
});
