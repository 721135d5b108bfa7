import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, rawElements, RawJson, rawMember } from './json.js';

/** Characters that an encoder or a parser might change. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

describe('jsonText', () => {
  it('inserts raw text unchanged', () => {
    const raw = '{"b":1, "a":12345678901234567890.10,"b":"\\u0041"}';
    expect(jsonText({ first: 1, payload: new RawJson(raw), last: 'x' })).toBe(
      `{"first":1,"payload":${raw},"last":"x"}`,
    );
  });

  it('omits undefined members', () => {
    expect(jsonText({ a: undefined, b: undefined })).toBe('{}');
    expect(jsonText({ a: undefined, b: 2 })).toBe('{"b":2}');
  });

  it('equals JSON.stringify for objects without raw text', () => {
    const object = { 'a"b': [1, { c: null }], d: new Date(0), e: true, f: undefined };
    expect(jsonText(object)).toBe(JSON.stringify(object));
  });

  it('equals JSON.stringify for any names and values', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: characters }), fc.jsonValue()), (object) => {
        expect(jsonText(object)).toBe(JSON.stringify(object));
        const raw = Object.entries(object).map(
          ([name, value]) => [name, new RawJson(JSON.stringify(value))] as const,
        );
        expect(jsonText(Object.fromEntries(raw))).toBe(JSON.stringify(object));
      }),
    );
  });
});

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
