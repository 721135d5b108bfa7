import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawMembers } from './json.js';
import { jsonErrorAt, JsonReader } from './json-reader.js';
import { JsonSyntaxError, TooManyValuesError } from './json-scanner.js';

/** The result of a generator, and how often it paused. */
function run<Result>(work: Generator<void, Result>): { result: Result; pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next();
    if (done === true) return { result: value, pauses };
  }
}

function* whole(json: JsonReader): Generator<void, number> {
  const levels = yield* json.value();
  yield* json.end();
  return levels;
}

const NONE: ReadonlySet<string> = new Set();

/** Reads a value, and what is in it, one by one. */
function* walk(json: JsonReader): Generator<void> {
  if (yield* json.isObject()) yield* json.members(NONE, () => walk(json));
  else if (yield* json.isArray()) {
    json.beginArray();
    for (let count = 0; yield* json.hasElement(count); count += 1) yield* walk(json);
  } else yield* json.value();
}

function* walkWhole(json: JsonReader): Generator<void> {
  yield* walk(json);
  yield* json.end();
}

/** The byte at which each way of reading a text finds an error; undefined if it finds none. */
function errorsIn(text: string): (number | undefined)[] {
  return [whole, walkWhole].map((read) => {
    try {
      run<unknown>(read(new JsonReader(Buffer.from(text))));
      return undefined;
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      return error.at;
    }
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Where JSON.parse found another character than it expected, if it says so. */
function parserErrorAt(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const [, position] = /(?:Expected|non-whitespace).* position (\d+)/.exec(message) ?? [];
    return position === undefined ? undefined : Number(position);
  }
}

const TOKENS = Array.from('{}[],:"\\ \n1-.eEu0x').concat([
  'true',
  'false',
  'null',
  'tru',
  '"a"',
  '"é😀"',
  '\\u00e9',
  '\\n',
  '12',
  '1.5e-7',
  '\u0001',
  '\t',
]);

it('accepts what JSON.parse accepts, and finds the errors that it names', () => {
  const tokens = fc.constantFrom(...TOKENS);
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.array(tokens, { maxLength: 3 }))
    .map(([text, where, removed, added]) => {
      const at = where % (text.length + 1);
      return (text.slice(0, at) + added.join('') + text.slice(at + removed)).toWellFormed();
    });
  const random = fc.array(tokens).map((all) => all.join(''));
  let faulty = 0;
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged, random), (text) => {
      const [error, whenWalked] = errorsIn(text);
      expect(whenWalked).toBe(error);
      expect(error === undefined).toBe(isJson(text));
      const named = parserErrorAt(text);
      if (named === undefined) return;
      faulty += 1;
      expect(error).toBe(Buffer.byteLength(text.slice(0, named)));
    }),
    { numRuns: 5_000 },
  );
  expect(faulty).toBeGreaterThan(500);
});

const spaced = fc.constantFrom(undefined, 1, '\t');
const values = fc.jsonValue({ maxDepth: 3 });

it('finds the members of an object as they were written', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), values), spaced, (value, space) => {
      const text = ` ${JSON.stringify(value, undefined, space)}`;
      const json = new JsonReader(Buffer.from(text));
      expect(run(json.isObject()).result).toBe(true);
      const { parts } = run(json.members(new Set(Object.keys(value)))).result;
      run(json.end());
      const found = Array.from(parts, ([name, part]) => [name, json.textOf(part)]);
      expect(found).toEqual([...rawMembers(text)]);
    }),
  );
});

it('finds the elements of an array', () => {
  fc.assert(
    fc.property(fc.array(values), spaced, (value, space) => {
      const text = ` ${JSON.stringify(value, undefined, space)}`;
      const json = new JsonReader(Buffer.from(text));
      expect(run(json.isArray()).result).toBe(true);
      json.beginArray();
      let count = 0;
      for (; run(json.hasElement(count)).result; count += 1) run(json.value());
      run(json.end());
      expect(count).toBe(value.length);
    }),
  );
});

it('returns the last of a repeated member, and few unknown ones', () => {
  const others = Array.from({ length: 1_000 }, (_, index) => `"b${index}":1`);
  const text = `{"a":1,${others.join()},"\\u0061":2}`;
  const json = new JsonReader(Buffer.from(text));
  const { parts } = run(json.members(new Set(['a']))).result;
  expect(json.textOf(parts.get('a')!)).toBe('2');
  expect(parts.size).toBe(40);
});

/** The members and elements at every depth, counted the simple way. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return Math.max(1, members.length) + members.map(countOf).reduce((sum, count) => sum + count, 0);
}

/** The levels of objects and arrays. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}

it('counts levels and values', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), spaced, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const parsed: unknown = JSON.parse(text);
      const count = countOf(parsed);
      const read = (most: number) => new JsonReader(Buffer.from(text), 0, most);
      expect(run(whole(read(count))).result).toBe(levelsOf(parsed));
      run(walkWhole(read(count)));
      if (count === 0) return;
      for (const readAll of [whole, walkWhole]) {
        expect(() => run<unknown>(readAll(read(count - 1)))).toThrow(TooManyValuesError);
      }
    }),
  );
});

it('says at which byte there are too many values', () => {
  const read = (most: number) => new JsonReader(Buffer.from('{"a":[{}],"b":[1,2]}'), 0, most);
  for (const readAll of [whole, walkWhole]) {
    expect(() => run<unknown>(readAll(read(5)))).toThrow(new TooManyValuesError(16));
  }
});

describe('the first bracket that is too deep', () => {
  const tooDeepAt = (text: string, most: number) => {
    const json = new JsonReader(Buffer.from(text), 0, Infinity, most);
    run(json.members(NONE));
    return json.tooDeepAt;
  };

  it.each([
    ['{"a":{"b":[{"c":1}]}}', 4, undefined],
    ['{"a":{"b":[{"c":1}]}}', 3, 11],
    ['{"a":[[],[],[],[[]]],"b":[[[[]]]]}', 3, 16],
    ['{"[[[[":"{{{{","\\"[[":["[[","{{"]}', 2, undefined],
  ])('of %s with at most %i levels is at %s', (text, most, at) => {
    expect(tooDeepAt(text, most)).toBe(at);
  });

  it('exists if the value has more levels', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 8 })),
        spaced,
        (value, space) => {
          const text = JSON.stringify(value, undefined, space);
          for (const most of [1, 2, 3, 5, 8]) {
            expect(tooDeepAt(text, most) !== undefined).toBe(levelsOf(JSON.parse(text)) > most);
          }
        },
      ),
    );
  });
});

describe('two megabytes of', () => {
  const fill = (unit: string) => unit.repeat(Math.floor((2 << 20) / unit.length));
  it.each([
    ['members', `{${fill('"a":{"b":1},')}"a":1}`],
    ['blanks', `{"a":${fill(' ')}1${fill(' ')}}`],
    ['characters', `{"a":"${fill('x')}"}`],
    ['escapes', `{"a":"${fill('\\u00e9')}"}`],
    ['a name', `{"${fill('n')}":1}`],
    ['digits', `{"a":1${fill('1')}.1${fill('1')}e1${fill('1')}}`],
  ])('%s pause every 8 KiB', (_, text) => {
    const bytes = Buffer.from(text);
    for (const read of [whole, walkWhole]) {
      const { pauses } = run<unknown>(read(new JsonReader(bytes)));
      expect(pauses).toBeGreaterThanOrEqual((bytes.length >> 13) - 1);
    }
  });

  it('brackets do not overflow the stack', () => {
    const bytes = Buffer.from(fill('['));
    expect(() => run(whole(new JsonReader(bytes)))).toThrow(new JsonSyntaxError(bytes.length));
  });
});

it.each([
  ['{"a": NaN}', 6],
  ['{"a": 1,}', 8],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['{"a" 1}', 5],
  ["{'a': 1}", 1],
  ['{"a": 01}', 7],
  ['{"a": 1.}', 7],
  ['{"a": -}', 6],
  ['{"a": truth}', 6],
  ['{"a": "x\ny"}', 8],
  ['{"a": "\\x"}', 7],
  ['{"a": "\\u12g4"}', 7],
  ['{"a": "x', 8],
  ['{"a": [1, {', 11],
  ['{"a": [1}', 8],
  ['{} x', 3],
  ['{},', 2],
  ['[true, nul', 7],
  ['}', 0],
  ['', 0],
])('finds the error in %j', (text, at) => {
  expect(jsonErrorAt(text)).toBe(at);
});

it('finds the place that JSON.parse names, which it does not always do', () => {
  const characters = fc.constantFrom(...Array.from('{}[],:"\\ \n1-.eEtrufalsn0x'));
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.array(characters, { maxLength: 3 }))
    .map(([text, where, removed, added]) => {
      const at = where % (text.length + 1);
      return text.slice(0, at) + added.join('') + text.slice(at + removed);
    });
  let known = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.array(characters).map((all) => all.join('')),
      ),
      (text) => {
        const expected = parserErrorAt(text);
        if (expected === undefined) return;
        known += 1;
        expect(jsonErrorAt(text)).toBe(expected);
      },
    ),
    { numRuns: 5_000 },
  );
  expect(known).toBeGreaterThan(500);
});

it('finds nothing in valid JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(jsonErrorAt(` ${text} `)).toBe(text.length + 2);
    }),
  );
});

it('takes a text of eight megabytes', () => {
  const text = `["${'x'.repeat(4 << 20)}",${'['.repeat(4 << 20)}`;
  expect(jsonErrorAt(text)).toBe(text.length);
});
