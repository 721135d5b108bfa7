import { expect, it } from 'vitest';
import { faultAt } from './problem.js';
import {
  flag,
  httpUrl,
  integer,
  label,
  listOf,
  numericId,
  oneOf,
  storableText,
  string,
  text,
  time,
  url,
  type Validator,
  wordOf,
} from './validator.js';

const codesOf = (validator: Validator, value: unknown, isNew = true) =>
  validator.check(value, isNew).map(({ code }) => code);

it.each<[name: string, validator: Validator, valid: unknown[], ...refused: [unknown, string][]]>([
  ['string', string(), ['', 'a'], [7, 'type'], [null, 'type']],
  ['text(3)', text(3), ['a', 'a😀b'], [7, 'type'], ['', 'length'], ['abcd', 'length']],
  ['text(9, 8)', text(9, 8), ['a😀345678'], ['a😀34567', 'length'], ['1234567890', 'length']],
  ['storableText(3)', storableText(3), ['a\n'], ['a\0', 'format'], ['\ud800', 'format']],
  ['label(9)', label(9), ['Büro 7'], ['a\nb', 'format'], ['a\u202eb', 'format'], ['', 'length']],
  ['httpUrl()', httpUrl(), ['HTTP://a.b/#c'], ['ftp://a.b/', 'format'], ['http://', 'format']],
  [
    'url without fragment',
    url(['https'], { fragment: false }),
    ['https://a'],
    ['https://a/#b', 'format'],
  ],
  ['oneOf', oneOf(['a', 'b']), ['b'], [['a'], 'type'], ['A', 'choice']],
  ['wordOf', wordOf(['ab']), ['AB'], ['abc', 'choice'], [0, 'type']],
  ['integer', integer({ min: 2, max: 3 }), [2, 3], [1, 'range'], [2.5, 'type'], ['2', 'type']],
  ['numericId', numericId(), ['0', 7], ['07', 'format'], [-1, 'format'], [true, 'type']],
  ['time', time(), ['2026-01-31T12:00:00+01:00'], ['2026-02-30T12:00:00Z', 'format'], [1, 'type']],
  ['flag', flag(), [true, false], ['true', 'type']],
  ['listOf', listOf(flag(), { min: 1, max: 2 }), [[true]], [{}, 'type'], [[], 'length']],
])('%s accepts and refuses', (_, validator, valid, ...refused) => {
  for (const value of valid) expect(validator.check(value)).toEqual([]);
  for (const [value, code] of refused)
    expect([value, codesOf(validator, value)]).toEqual([value, [code]]);
});

it('accepts a bidirectional control in a value that may be a stored one', () => {
  expect(codesOf(label(9), 'a\u202eb', false)).toEqual([]);
  expect(codesOf(label(9), 'a\nb', false)).toEqual(['format']);
});

it('names all choices', () => {
  expect(oneOf(['a', 'b']).check('c')).toEqual([{ code: 'choice', says: 'must be one of a, b' }]);
});

it('adds its rules up, in the schema and in words', () => {
  const validator = text(9).and('format', 'must begin with a', (value) => value.startsWith('a'), {
    pattern: '^a',
  });
  expect(validator.schema).toEqual({ type: 'string', minLength: 1, maxLength: 9, pattern: '^a' });
  expect(validator.wording).toEqual(['must have 1 to 9 characters', 'must begin with a']);
  expect(validator.check('b'.repeat(10))).toEqual([
    { code: 'length', says: 'must have 1 to 9 characters' },
  ]);
});

it('keeps a named schema, whose name would be lost in a copy', () => {
  const schema = { type: 'string', enum: ['a'] };
  expect(oneOf(['a'], schema).and('format', 'must', () => true).schema).toBe(schema);
});

it('says where the problems inside a value are', () => {
  const lists = listOf(listOf(flag(), { max: 2 }), { max: 2 });
  const faults = lists.check([[true, 7], 'x']).map((problem) => faultAt('of', problem));
  expect(faults).toEqual([
    { field: '/of/0/1', code: 'type', message: '/of/0/1 must be true or false.' },
    { field: '/of/1', code: 'type', message: '/of/1 must be an array.' },
  ]);
  const problem = { code: 'format', says: 'is wrong', path: ['a/b~c'] } as const;
  expect(faultAt('/events/3/of', problem).field).toBe('/events/3/of/a~1b~0c');
});
