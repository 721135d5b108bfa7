import { expect, it } from 'vitest';
import { atOnce } from '#libs/kernel';
import { containsDecoded } from './escaped-text.js';

const contains = (json: string, text: string) => atOnce(containsDecoded(json, text));

it.each([
  ['a code', String.raw`{"to":"\u002b14075551234"}`, '+14075551234'],
  ['a code in upper case', String.raw`{"to":"\u002B14075551234"}`, '+14075551234'],
  ['a surrogate pair', String.raw`{"note":"\ud83d\ude00 Ann"}`, '😀 Ann'],
  ['a slash', String.raw`{"sip":"sip:ann\/home"}`, 'ann/home'],
  ['a quote', String.raw`{"note":"the \"Ann\" one"}`, 'the "Ann" one'],
  ['a control character', String.raw`{"note":"Ann\nLee"}`, 'Ann\nLee'],
  ['a name of a member', String.raw`{"\u0041nn":1}`, 'Ann"'],
])('finds a text with %s escaped', (_, json, text) => {
  expect(contains(json, text)).toBe(true);
});

it('does not decode what follows an escaped backslash', () => {
  expect(contains(String.raw`{"note":"\\u0041nn"}`, 'Ann')).toBe(false);
});

it('finds a text wherever its escapes are, in many steps', () => {
  for (let before = 4_070; before < 4_110; before += 1) {
    const json = `{"to":"${'x'.repeat(before)}${String.raw`\u002b1\u0034075551234`}"}`;
    expect([before, contains(json, '+14075551234')]).toEqual([before, true]);
    const escaped = String.raw`\n`.repeat(before / 2) + json;
    expect([before, contains(escaped, '+14075551234')]).toEqual([before, true]);
  }
  const steps = containsDecoded(String.raw`\u0061`.repeat(20_000), 'Ann');
  expect([...steps].length).toBeGreaterThan(20);
});
