import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rawElements, rawMember } from './json-members.js';

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

it('agrees with JSON.parse on any object, however it is spaced', () => {
  const blanks = fc.constantFrom(undefined, 1, '\t', '\r\n ');
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), blanks, (object, space) => {
      const text = JSON.stringify(object, undefined, space);
      for (const [name, value] of Object.entries(object)) {
        expect(JSON.parse(rawMember(text, name) ?? 'missing')).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), blanks, (array, space) => {
      const text = JSON.stringify(array, undefined, space);
      expect(rawElements(text).map((element) => JSON.parse(element) as unknown)).toEqual(
        JSON.parse(text),
      );
    }),
  );
});
