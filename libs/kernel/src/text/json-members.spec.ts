import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rawElements, rawMember } from './json-members.js';

/** Characters that an encoder or a parser might change. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

it('returns a member exactly as it was written', () => {
  const text = ' {"a":1, "data" : { "n":1.00, "s":"}\\"]{" , "x":[1,{"data":2}]} ,"b":null}';
  expect(rawMember(text, 'data')).toBe('{ "n":1.00, "s":"}\\"]{" , "x":[1,{"data":2}]}');
  expect(rawMember(text, 'a')).toBe('1');
  expect(rawMember(text, 'b')).toBe('null');
  expect(rawMember(text, 'c')).toBeUndefined();
});

it('returns the last value of a repeated member, even if its name is written with escapes', () => {
  expect(rawMember('{"data":1,"\\u0064ata":2}', 'data')).toBe('2');
  expect(rawMember('{"\\u0064ata":2,"data":1}', 'data')).toBe('1');
});

it('recognises escaped backslashes and quotes in strings', () => {
  expect(rawMember('{"a":"\\\\","b":"\\\\\\"","data":"x"}', 'data')).toBe('"x"');
});

it('splits an array into its elements', () => {
  expect(rawElements(' [ 1 ,"a,]" , {"x":[2]},[],null ] ')).toEqual([
    '1',
    '"a,]"',
    '{"x":[2]}',
    '[]',
    'null',
  ]);
  expect(rawElements('[]')).toEqual([]);
});

/** JSON texts of values, with the blanks and escapes that a client may write. */
const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });
const numbers = fc.constantFrom('0', '-0', '1.00', '12345678901234567890', '1e-7', '-2.5E+10');

/** A string as JSON text: each of its characters plain or escaped. */
const strings = fc
  .array(fc.tuple(fc.string({ unit: characters, minLength: 1, maxLength: 1 }), fc.boolean()), {
    maxLength: 8,
  })
  .map((units) => `"${units.map(([unit, isEscaped]) => written(unit, isEscaped)).join('')}"`);

function written(unit: string, isEscaped: boolean): string {
  if (!isEscaped) return JSON.stringify(unit).slice(1, -1);
  const codes = Array.from({ length: unit.length }, (_, at) => unit.charCodeAt(at));
  return codes.map((code) => `\\u${code.toString(16).padStart(4, '0').toUpperCase()}`).join('');
}

const { value: values } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom('null', 'true', 'false', '{}', '[]', '"}"', '"]"', '"\\\\"', '"\\""'),
    numbers,
    strings,
    tie('array'),
    tie('object'),
  ),
  array: fc
    .array(fc.tuple(blanks, tie('value'), blanks), { maxLength: 4 })
    .map((elements) => `[${elements.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(blanks, strings, blanks, blanks, tie('value'), blanks), { maxLength: 4 })
    .map((members) => `{${members.map(memberOf).join(',')}}`),
}));

function memberOf([before, name, after, between, value, end]: readonly string[]): string {
  return [before, name, after, ':', between, value, end].join('');
}

/** Member names, few enough that some are repeated, with and without escapes. */
const names = fc.constantFrom(
  '"data"',
  '"\\u0064ata"',
  '"d\\u0061ta"',
  '"__proto__"',
  '"a\\"b"',
  '""',
);
const members = fc.array(fc.tuple(blanks, names, blanks, blanks, values, blanks), { maxLength: 6 });

it('finds the same members as JSON.parse in any object: the last of each name, unchanged', () => {
  fc.assert(
    fc.property(members, blanks, blanks, (parts, before, after) => {
      const text = `${before}{${parts.map(memberOf).join(',')}}${after}`;
      const parsed = JSON.parse(text) as object;
      const last = new Map(parts.map(([, name, , , value]) => [JSON.parse(name) as string, value]));
      for (const name of ['data', '__proto__', 'a"b', '', 'toString']) {
        expect(rawMember(text, name)).toBe(last.get(name));
        expect(Object.hasOwn(parsed, name)).toBe(last.has(name));
      }
    }),
    { numRuns: 500 },
  );
});

it('finds the same elements as JSON.parse in any array, each as it was written', () => {
  const elements = fc.array(fc.tuple(blanks, values, blanks), { maxLength: 6 });
  fc.assert(
    fc.property(elements, blanks, (parts, before) => {
      const text = `${before}[${parts.map((part) => part.join('')).join(',')}] `;
      const found = rawElements(text);
      expect(found).toEqual(parts.map(([, value]) => value));
      expect(found.map((one) => JSON.parse(one) as unknown)).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});
