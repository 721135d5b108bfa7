import { expect, it } from 'vitest';
import { formattedJson } from './json-tokens.js';

const textOf = (text: string) =>
  formattedJson(text)
    ?.map((token) => token.text)
    .join('');

it('formats JSON, and keeps numbers, strings and repeated names as they are', () => {
  const text =
    '{"n":1e400,"n": 98765432109876543210.50 ,"s":"a \\"b\\", {c}","l":[1,[],{}],"e":{}}';
  expect(textOf(text)).toBe(`{
  "n": 1e400,
  "n": 98765432109876543210.50,
  "s": "a \\"b\\", {c}",
  "l": [
    1,
    [],
    {}
  ],
  "e": {}
}`);
});

it('tells names, strings, numbers and words apart', () => {
  const kinds = formattedJson('{"a":"b","c":-1,"d":true}')!.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind !== 'mark' && kind !== 'blank')).toEqual([
    ...['name', 'string', 'name', 'number', 'name', 'word'],
  ]);
});

it.each(['', 'no JSON', '{"a":1', '<html>'])('formats nothing of %j', (text) => {
  expect(formattedJson(text)).toBeUndefined();
});

it.each(['1', '"text"', 'null', '[]', '{}'])('keeps %s', (text) => {
  expect(textOf(text)).toBe(text);
});
