import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tooDeepAt, tooManyValuesAt } from './json-limits.js';

const nested = (levels: number, open = '[', close = ']') =>
  open.repeat(levels) + close.repeat(levels);

it('finds the bracket that is one level too deep, and only such', () => {
  expect(tooDeepAt(nested(3), 3)).toBe(-1);
  expect(tooDeepAt(nested(4), 3)).toBe(3);
  expect(tooDeepAt('{"a":{"b":[{"c":1}]}}', 4)).toBe(-1);
  expect(tooDeepAt('{"a":{"b":[{"c":1}]}}', 3)).toBe(11);
  expect(tooDeepAt('[[],[],[],[[]]]', 3)).toBe(-1);
});

it('takes no bracket in a string for one', () => {
  const text = JSON.stringify({ '[[[[': '{{{{', '\\"[[': ['[[', '\\\\"{{'] });
  expect(tooDeepAt(text, 2)).toBe(-1);
  expect(tooManyValuesAt(text, 4)).toBe(-1);
});

it('finds the value that is one too many', () => {
  expect(tooManyValuesAt('[1,2,3,4]', 4)).toBe(-1);
  expect(tooManyValuesAt('[1,2,3,4]', 3)).toBe(6);
  expect(tooManyValuesAt('{"a":1,"b":[2,3]}', 4)).toBe(-1);
  expect(tooManyValuesAt('{"a":1,"b":[2,3]}', 3)).toBe(13);
});

it.each(['["', '["\\"', '{"a', '[[["x', '",",",'])(
  'comes to an end with %j, which is no JSON',
  (text) => {
    expect(tooManyValuesAt(text.repeat(50), 10)).toBeGreaterThanOrEqual(-1);
  },
);

/** Levels of a value, counted the plain way. */
function levels(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levels));
}

function values(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return Math.max(1, members.length) + members.map(values).reduce((sum, count) => sum + count, 0);
}

it('agrees with the parsed value of any text', () => {
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
