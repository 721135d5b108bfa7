import { expect, it } from 'vitest';
import { containsDecoded } from './escaped-text.js';

it.each([
  ['a code', String.raw`{"to":"\u002b14075551234"}`, '+14075551234'],
  ['a code in upper case', String.raw`{"to":"\u002B14075551234"}`, '+14075551234'],
  ['a surrogate pair', String.raw`{"note":"\ud83d\ude00 Ann"}`, '😀 Ann'],
  ['a slash', String.raw`{"sip":"sip:ann\/home"}`, 'ann/home'],
  ['a quote', String.raw`{"note":"the \"Ann\" one"}`, 'the "Ann" one'],
  ['a control character', String.raw`{"note":"Ann\nLee"}`, 'Ann\nLee'],
  ['a name of a member', String.raw`{"\u0041nn":1}`, 'Ann"'],
])('finds a text with %s escaped', (_, json, text) => {
  expect(containsDecoded(json, text)).toBe(true);
});

it('does not decode what follows an escaped backslash', () => {
  expect(containsDecoded(String.raw`{"note":"\\u0041nn"}`, 'Ann')).toBe(false);
});
