import { describe, expect, it } from 'vitest';
import { readableBody, stringMembers } from './notification-text.js';

const readable = (text: string) => readableBody(Buffer.from(text));

describe('readableBody', () => {
  it('indents JSON as JSON.stringify does', () => {
    const value = { a: [], b: {}, c: [1, { d: 'x, {y}: "z\\"' }], e: null, f: [[true]] };
    expect(readable(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    expect(readable(JSON.stringify(value, null, 4))).toBe(JSON.stringify(value, null, 2));
  });

  it('keeps large numbers, repeated keys and escapes as sent', () => {
    const text = String.raw`{"n":12345678901234567890.10,"k":1,"k":2,"u":"\u00e4\/"}`;
    expect(readable(text).replaceAll(/\n\s*|(?<=:) /g, '')).toBe(text);
  });

  it('shows other text unchanged', () => {
    expect(readable('{"a": 1} and more')).toBe('{"a": 1} and more');
    expect(readable('a=1\nb=2')).toBe('a=1\nb=2');
  });

  it('indents a string of 200,000 characters', () => {
    const long = JSON.stringify({ text: '\\"'.repeat(100_000) });
    expect(readable(long)).toHaveLength(long.length + '\n  '.length + ' '.length + '\n'.length);
  });
});

describe('stringMembers', () => {
  const members = (text: string) => stringMembers(Buffer.from(text), ['event', 'id']);

  it('finds the strings in the requested order', () => {
    expect(members('{"id": "7", "x": 1, "event": "smsdlr"}')).toEqual(['smsdlr', '7']);
  });

  it.each(['', 'no JSON', 'null', '"event"', '[1]', '{"event": 1}'])('finds none in %j', (text) => {
    expect(members(text)).toEqual([]);
  });
});
