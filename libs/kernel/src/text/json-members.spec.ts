import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rawElements, rawMember } from './json-members.js';

/** Characters that something may make something else of. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

it('cuts a member out as it was written', () => {
  const text = ' {"a":1, "data" : { "n":1.00, "s":"}\\"]{" , "x":[1,{"data":2}]} ,"b":null}';
  expect(rawMember(text, 'data')).toBe('{ "n":1.00, "s":"}\\"]{" , "x":[1,{"data":2}]}');
  expect(rawMember(text, 'a')).toBe('1');
  expect(rawMember(text, 'b')).toBe('null');
  expect(rawMember(text, 'c')).toBeUndefined();
});

it('takes the last of a repeated member, escaped spellings included', () => {
  expect(rawMember('{"data":1,"\\u0064ata":2}', 'data')).toBe('2');
  expect(rawMember('{"\\u0064ata":2,"data":1}', 'data')).toBe('1');
});

it('is not led astray by backslashes before quotes', () => {
  expect(rawMember('{"a":"\\\\","b":"\\\\\\"","data":"x"}', 'data')).toBe('"x"');
});

it('splits an array', () => {
  expect(rawElements(' [ 1 ,"a,]" , {"x":[2]},[],null ] ')).toEqual([
    '1',
    '"a,]"',
    '{"x":[2]}',
    '[]',
    'null',
  ]);
  expect(rawElements('[]')).toEqual([]);
});

/** A JSON text of a value, with blanks and escapes as somebody may write them. */
const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });
const numbers = fc.constantFrom('0', '-0', '1.00', '12345678901234567890', '1e-7', '-2.5E+10');

/** A string as JSON text: each of its units as it is, or in an escape. */
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

/** Members of an object, so few names that some are repeated, in some spelling of each. */
const names = fc.constantFrom(
  '"data"',
  '"\\u0064ata"',
  '"d\\u0061ta"',
  '"__proto__"',
  '"a\\"b"',
  '""',
);
const members = fc.array(fc.tuple(blanks, names, blanks, blanks, values, blanks), { maxLength: 6 });

it('finds in any object what JSON.parse finds: the last of each member, unchanged', () => {
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

it('finds in any array the elements that JSON.parse finds, each as it was written', () => {
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
