import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonErrorAt } from './json-syntax.js';

/** Where JSON.parse found another character than it expected, if it says so. */
function parserErrorAt(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const [, position] = /(?:Expected|non-whitespace).* position (\d+)/.exec(message) ?? [];
    return position === undefined ? undefined : Number(position);
  }
}

it.each([
  ['{"a": NaN}', 6],
  ['{"a": 1,}', 8],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['{"a" 1}', 5],
  ["{'a': 1}", 1],
  ['{"a": 01}', 7],
  ['{"a": 1.}', 7],
  ['{"a": -}', 6],
  ['{"a": truth}', 6],
  ['{"a": "x\ny"}', 8],
  ['{"a": "\\x"}', 7],
  ['{"a": "\\u12g4"}', 7],
  ['{"a": "x', 8],
  ['{"a": [1, {', 11],
  ['{"a": [1}', 8],
  ['{} x', 3],
  ['{},', 2],
  ['[true, nul', 7],
  ['}', 0],
  ['', 0],
])('finds the error in %j', (text, at) => {
  expect(jsonErrorAt(text)).toBe(at);
});

it('finds the place that JSON.parse names, which it does not always do', () => {
  const characters = fc.constantFrom(...Array.from('{}[],:"\\ \n1-.eEtrufalsn0x'));
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.array(characters, { maxLength: 3 }))
    .map(([text, where, removed, added]) => {
      const at = where % (text.length + 1);
      return text.slice(0, at) + added.join('') + text.slice(at + removed);
    });
  let known = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.array(characters).map((all) => all.join('')),
      ),
      (text) => {
        const expected = parserErrorAt(text);
        if (expected === undefined) return;
        known += 1;
        expect(jsonErrorAt(text)).toBe(expected);
      },
    ),
    { numRuns: 5_000 },
  );
  expect(known).toBeGreaterThan(500);
});

it('finds nothing in valid JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(jsonErrorAt(` ${text} `)).toBe(text.length + 2);
    }),
  );
});

it('takes a text of eight megabytes', () => {
  const text = `["${'x'.repeat(4 << 20)}",${'['.repeat(4 << 20)}`;
  expect(jsonErrorAt(text)).toBe(text.length);
});
