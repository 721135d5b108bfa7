import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { complain, inOneLine, print, printable, tell } from './output.js';

const EVIL = 'a\u001b[2J\r\u009bb\u0007\u007f\u202egpj\u2066.\u2069';
const SHOWN = 'a\\u001b[2J\\u000d\\u009bb\\u0007\\u007f\\u202egpj\\u2066.\\u2069';

let out: string[];
let err: string[];

beforeEach(() => {
  [out, err] = [[], []];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void err.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('printable', () => {
  it('escapes every control and every bidirectional control, and nothing else', () => {
    const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code));
    const escaped = all.filter((character) => printable(character) !== character);
    const ranges = /^[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]$/;
    expect(escaped).toEqual(all.filter((character) => ranges.test(character)));
    expect(printable(`${EVIL}\n\tä😀`)).toBe(`${SHOWN}\n\tä😀`);
  });

  it('escapes line breaks and tabs in text that has to stay on one line', () => {
    expect(inOneLine(`${EVIL}\n\tä`)).toBe(`${SHOWN}\\u000a\\u0009ä`);
  });
});

it.each<[how: string, print: () => void]>([
  ['a result for people', () => print({}, {}, EVIL)],
  ['a heading', () => tell({}, EVIL)],
  ['an error', () => complain(EVIL)],
])('prints %s without control characters', (_, printEvil) => {
  printEvil();
  expect([...out, ...err]).toEqual([SHOWN]);
});

it('prints the same value as JSON without control characters', () => {
  print({ json: true }, { name: EVIL }, '');
  print({ json: true }, `{"name":"\u202e\u009b"}`, '');
  for (const line of out) expect(line).toMatch(/^[ -~]*$/);
  expect(out.map((line) => JSON.parse(line) as object)).toEqual([
    { name: EVIL },
    { name: '\u202e\u009b' },
  ]);
});
