import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '#libs/kernel';
import { Filter, filterValidator, Filters } from './filter.js';

/** @param filter JSON text */
const matches = (filter: string, data: string): boolean => {
  expect(filterValidator.check(filter)).toEqual([]);
  const given = Filter.of(filter);
  return given === null || atOnce(given.matches(data));
};

const CALL = `{"callId":"8c1f","duration":60,"cost":12345678901234567890,"answered":true,"carrier":null,
  "caller":{"number":"+14075550100","country":{"code":"US"}},"legs":[{"n":1}],"http.status":200}`;

describe('a filter', () => {
  it.each([
    ['{"callId":"8c1f"}'],
    ['{"\\u0063allId":"8\\u00631f"}'],
    ['{"duration":60,"answered":true,"carrier":null}'],
    ['{"duration":6.0e1}'],
    ['{"duration":["60",60]}'],
    ['{"duration":{"gt":59.999999999999999999999,"lt":60.000000000000000000001}}'],
    ['{"duration":{"gte":60,"lte":60}}'],
    ['{"cost":{"gt":12345678901234567889,"lt":12345678901234567891}}'],
    ['{"caller.number":{"prefix":"+1"}}'],
    ['{"caller.country.code":["CA","US"]}'],
    ['{"http.status":200}'],
    ['{"caller":{"exists":true},"legs":{"exists":true},"carrier":{"exists":true}}'],
    ['{"recording":{"exists":false},"caller.city":{"exists":false},"callId.x":{"exists":false}}'],
    ['{"callId":{"not":"8c1e"}}'],
    ['{"callId":{"not":["a","b",1]}}'],
    ['{"callId":{"not":null},"caller":{"not":null}}'],
    ['{"duration":{"not":{"gt":60}}}'],
    ['{"duration":{"not":{"not":60}}}'],
    ['{"recording":{"not":{"exists":true}}}'],
    ['{"duration":61,"duration":60}'],
  ])('%s matches a call', (filter) => {
    expect(matches(filter, CALL)).toBe(true);
  });

  it.each([
    ['{"callId":"8C1F"}'],
    ['{"callId":"8c1f","duration":61}'],
    ['{"duration":"60"}'],
    ['{"cost":12345678901234567891}'],
    ['{"answered":"true"}'],
    ['{"answered":false}'],
    ['{"duration":{"gt":60}}'],
    ['{"duration":{"lt":60}}'],
    ['{"duration":{"gte":60,"prefix":"6"}}'],
    ['{"callId":{"gt":1}}'],
    ['{"caller":"+14075550100"}'],
    ['{"legs":1}'],
    ['{"legs.n":1}'],
    ['{"legs.0.n":1}'],
    ['{"caller.country":"US"}'],
    ['{"country.code":"US"}'],
    ['{"caller.number":{"prefix":"1"}}'],
    ['{"recording":null}'],
    ['{"recording":{"exists":true}}'],
    ['{"callId":{"exists":false}}'],
    ['{"carrier":{"not":null}}'],
    ['{"toString":{"exists":true}}'],
    ['{"__proto__":{"exists":true}}'],
  ])('%s does not match a call', (filter) => {
    expect(matches(filter, CALL)).toBe(false);
  });

  it.each([
    ['a member that is not there', '{"recording":{"not":"x"}}'],
    ['a member inside a string', '{"callId.x":{"not":"x"}}'],
    ['a string as a number', '{"callId":{"not":{"gt":1}}}'],
    ['a number as a string', '{"duration":{"not":"60"}}'],
    ['a number among strings', '{"duration":{"not":["60","61"]}}'],
    ['an object', '{"caller":{"not":{"prefix":"x"}}}'],
    ['null as a string', '{"carrier":{"not":"x"}}'],
    ['a condition of which a part cannot be judged', '{"duration":{"not":{"gt":60,"prefix":"6"}}}'],
  ])('cannot judge %s, which does not match', (_, filter) => {
    expect(matches(filter, CALL)).toBe(false);
  });

  it('reads the last one of a repeated member, and nothing of the earlier ones', () => {
    expect(matches('{"a":2}', '{"a":1,"a":2}')).toBe(true);
    expect(matches('{"a":2}', '{"a":1,"\\u0061":2}')).toBe(true);
    expect(matches('{"a":1}', '{"a":1,"a":2}')).toBe(false);
    expect(matches('{"a.b":1}', '{"a":{"b":1},"a":{"c":2}}')).toBe(false);
    expect(matches('{"a.b":{"exists":false}}', '{"a":{"b":1},"a":2}')).toBe(true);
  });

  it('prefers a member whose name has dots to a path', () => {
    expect(matches('{"a.b":1}', '{"a.b":1,"a":{"b":2}}')).toBe(true);
    expect(matches('{"a.b":1}', '{"a":{"b":2},"a.b":1}')).toBe(true);
    expect(matches('{"a.b":2}', '{"a":{"b":2},"a.b":1}')).toBe(false);
  });

  it('can name a member with dots inside another one', () => {
    expect(matches('{"a\\\\.b":1}', '{"a.b":1,"a":{"b":2}}')).toBe(true);
    expect(matches('{"a\\\\.b":1}', '{"a":{"b":1}}')).toBe(false);
    expect(matches('{"http.a\\\\.b.c":1}', '{"http":{"a.b":{"c":1}}}')).toBe(true);
    expect(matches('{"a\\\\.b":1,"a.b":2}', '{"a.b":1,"a":{"b":2}}')).toBe(false);
    expect(matches('{"a\\\\.b":1,"a.b":1}', '{"a.b":1,"a":{"b":2}}')).toBe(true);
  });

  it('reads nothing of a member that a later one of the same name has replaced', () => {
    const data = '{"a":{"b":{"c":1}},"a":{"d":1}}';
    expect(matches('{"a.b.c":{"exists":false},"a.b":{"exists":false},"a.d":1}', data)).toBe(true);
    expect(matches('{"a.b.c":1}', '{"a":{"b":{"c":2}},"a":{"b":{"c":1}}}')).toBe(true);
  });

  it('does not find a text with U+0000 among the values of an array', () => {
    expect(matches('{"a":["x","y"]}', '{"a":"x\\u0000\\"y"}')).toBe(false);
  });

  it('reads text with U+0000, lone surrogates and quotes', () => {
    const data = '{"a\\u0000":"\\u0000","b":"\\ud800x","c":"\\"\\\\","d":1}';
    expect(matches('{"b":{"not":"x"},"c":"\\"\\\\","d":1}', data)).toBe(true);
  });

  it('judges like JSON.parse on numbers that it can represent', () => {
    const value = fc.jsonValue({ maxDepth: 1 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.integer(), (object, bound) => {
        const data = JSON.stringify({ ...object, n: object['n'] ?? bound });
        const { n } = JSON.parse(data) as { n: unknown };
        const isGreater = typeof n === 'number' && n > bound;
        expect(matches(`{"n":{"gt":${bound}}}`, data)).toBe(isGreater);
      }),
    );
  });

  it('with others on one account judges each as if it were alone', () => {
    const texts = [
      '{"duration":60}',
      '{"duration":{"gt":60}}',
      '{"caller.number":{"prefix":"+1"}}',
    ];
    const filters = texts.map((text) => new Filter(text));
    expect(atOnce(atOnce(Filters.of(filters)).judge(CALL))).toEqual([true, false, true]);
    expect(filters.map((filter) => atOnce(filter.matches(CALL)))).toEqual([true, false, true]);
  });

  it('is stored without blanks and repeated members, with numbers as they were written', () => {
    const given =
      ' { "a" : [ 1.0 , "\\u0041" ] , "b" : 1, "b" : { "gt" : 12345678901234567890 } } ';
    expect(Filter.of(given)?.text).toBe('{"a":[1.0,"A"],"b":{"gt":12345678901234567890}}');
  });

  it('without conditions is none', () => {
    expect([Filter.of('{}'), Filter.of(' { } ')]).toEqual([null, null]);
  });
});

/** A value of each kind that costs the most to read, 128 KB long. */
const LONG = 128 << 10;
const repeated = (unit: string, end = '') =>
  unit.repeat(Math.floor((LONG - end.length) / unit.length)) + end;
const nested = `{"a":`.repeat(4);

it.each([
  ['repeated members', `{${repeated('"a":1,', '"a":1}')}`],
  ['repeated objects', `{${repeated('"a":{"a":{}},', '"a":1}')}`],
  ['deep objects', `${nested}{${repeated('"a":1,', '"a":1}')}${'}'.repeat(4)}`],
  ['names with escapes', `{${repeated('"\\u0000":1,', '"a":1}')}`],
  ['a string of escapes', `{"a":"${repeated('\\u0000')}"}`],
  ['a string of backslashes', `{"a":"${repeated('\\\\')}"}`],
  ['a string of quotes', `{"a":"${repeated('\\"')}"}`],
  ['a long number', `{"a":1${repeated('0')}1}`],
  ['a long exponent', `{"a":1e${repeated('9')}}`],
  ['many numbers in an array', `{"a":[${repeated('1,', '1]')}}`],
  ['blanks', `{${repeated(' ', '"a":1}')}`],
])('judges data of 128 KB in linear time: %s', (_, data) => {
  JSON.parse(data);
  const paths = [1, 2, 3, 4, 5].map((names) => Array.from({ length: names }, () => 'a').join('.'));
  const filters = Array.from({ length: 20 }, (__, index) => {
    const members = paths.map(
      (path) => `"${path}":{"not":{"gte":1${index}e9}},"b.${path}":["x",1]`,
    );
    return new Filter(`{${members.slice(0, 5).join()}}`);
  });
  const all = atOnce(Filters.of(filters));
  const took = [1, 2, 3].map(() => {
    const start = performance.now();
    atOnce(all.judge(data));
    return performance.now() - start;
  });
  // It takes up to 5 ms. Quadratic time would be seconds.
  expect(Math.min(...took)).toBeLessThan(100);
});

/** A filter with so many conditions inside each other. */
function nestedNot(depth: number): object {
  let condition: unknown = 1;
  for (let outer = 1; outer < depth; outer += 1) condition = { not: condition };
  return { a: condition };
}

describe('filterValidator', () => {
  const at = (filter: unknown) =>
    filterValidator.check(typeof filter === 'string' ? filter : JSON.stringify(filter));

  it.each([
    [[], 'type', undefined],
    [{ 'a.b.c.d.e.f': 1 }, 'format', ['a.b.c.d.e.f']],
    [{ 'a..b': 1 }, 'format', ['a..b']],
    [{ '': 1 }, 'format', undefined],
    [{ 'a\0': 1 }, 'format', ['a\0']],
    [{ a: {} }, 'length', ['a']],
    [{ a: [] }, 'length', ['a']],
    [{ a: [1, {}] }, 'format', ['a', 1]],
    [{ a: [[1]] }, 'format', ['a', 0]],
    [{ a: { gt: '1' } }, 'format', ['a', 'gt']],
    [{ 'call.duration': { lte: null } }, 'format', ['call.duration', 'lte']],
    [{ a: { prefix: 1 } }, 'format', ['a', 'prefix']],
    [{ a: { exists: 1 } }, 'format', ['a', 'exists']],
    [{ a: { eq: 1 } }, 'not_allowed', ['a', 'eq']],
    [{ a: { constructor: 1 } }, 'not_allowed', ['a', 'constructor']],
    [{ a: { not: { not: { gt: true } } } }, 'format', ['a', 'not', 'not', 'gt']],
    [{ a: { not: [1, []] } }, 'format', ['a', 'not', 1]],
    [{ a: 'x\0' }, 'format', ['a']],
    [{ a: ['b', '\ud800'] }, 'format', ['a', 1]],
    [{ a: { prefix: '\0' } }, 'format', ['a', 'prefix']],
    ['{"a":1e1000000000}', 'range', ['a']],
    ['{"a":{"gt":1e-1000000000}}', 'range', ['a', 'gt']],
    [
      Object.fromEntries('a,b,c,d,e,f,g,h,i,j,k'.split(',').map((name) => [name, 1])),
      'length',
      undefined,
    ],
    [{ a: 'x'.repeat(4_096) }, 'length', undefined],
    [{ a: Array.from({ length: 101 }, () => 1) }, 'length', ['a']],
    [{ a: { not: Array.from({ length: 101 }, () => 1) } }, 'length', ['a', 'not']],
    [nestedNot(6), 'length', ['a', 'not', 'not', 'not', 'not', 'not']],
    [{ 'a\\.b.c.d.e.f.g': 1 }, 'format', ['a\\.b.c.d.e.f.g']],
  ])('refuses %j', (filter, code, path) => {
    const problems = at(filter);
    expect(problems).toEqual([{ code, says: expect.any(String) as string, ...(path && { path }) }]);
  });

  it('accepts the most values, the deepest condition and the longest path', () => {
    expect(at({ a: Array.from({ length: 100 }, (_, index) => index) })).toEqual([]);
    expect(at(nestedNot(5))).toEqual([]);
    expect(at({ 'a\\.b.c.d.e.f': 1, 'g\\.': 1 })).toEqual([]);
  });

  it('describes paths like it checks them', () => {
    const { propertyNames } = filterValidator.schema;
    const pattern = new RegExp(propertyNames!.pattern!);
    const path = fc.string({
      unit: fc.constantFrom('a', '.', '\\\\'),
      minLength: 1,
      maxLength: 14,
    });
    fc.assert(
      fc.property(path, (name) => {
        expect(pattern.test(name)).toBe(at({ [name]: 1 }).length === 0);
      }),
    );
  });

  it('finds every fault', () => {
    const problems = at({ a: { gt: 'x', lt: 'y' }, b: [{}, 1, []] });
    expect(problems.map(({ path }) => path?.join('/'))).toEqual(['a/gt', 'a/lt', 'b/0', 'b/2']);
  });
});
