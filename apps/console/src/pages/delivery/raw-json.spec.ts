import { expect, it } from 'vitest';
import { rawMembers } from './raw-json.js';

it('keeps large numbers, blanks, key order, repeated keys and escapes of a value', () => {
  const data = '{ "b": 12345678901234567890.10, "a": [1, "}\\",{"], "a": "\\u00e9" }';
  const members = rawMembers(`{"id":"x", "data" : ${data} ,"n":1e400}`);
  expect(Object.fromEntries(members)).toEqual({ id: '"x"', data, n: '1e400' });
});

it('reads escaped names, and empty objects', () => {
  expect([...rawMembers('{"\\u0061\\"":null}')]).toEqual([['a"', 'null']]);
  expect([...rawMembers(' {} ')]).toEqual([]);
});

it.each(['[1]', '', '"{}"', '{"a":1'])('refuses %j, which is not an object', (text) => {
  expect(() => rawMembers(text)).toThrow(SyntaxError);
});
