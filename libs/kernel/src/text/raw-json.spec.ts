import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, RawJson } from './raw-json.js';

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
