import { describe, expect, it } from 'vitest';
import {
  countOf,
  faultOfRows,
  filterOf,
  type FilterRow,
  filterText,
  type Kind,
  previewOf,
  rowsOf,
  rowsOfFilter,
  valueOf,
  wrongInput,
} from './filter-rows.js';

const row = (path: string, kind: Kind, value = ''): FilterRow => ({ path, kind, value });

describe('a filter', () => {
  it.each<[string, string, FilterRow[]]>([
    ['a text', '{"a":"x"}', [row('a', 'is', 'x')]],
    [
      'a number with all its digits',
      '{"a":12345678901234567890.0}',
      [row('a', 'is', '12345678901234567890.0')],
    ],
    ['a word', '{"a":true,"b":null}', [row('a', 'is', 'true'), row('b', 'is', 'null')]],
    ['a text that looks like a number', '{"a":"60"}', [row('a', 'is', '"60"')]],
    ['a text that looks like JSON', '{"a":"\\"x\\""}', [row('a', 'is', '"\\"x\\""')]],
    ['an empty text', '{"a":""}', [row('a', 'is', '""')]],
    ['a text with blanks around it', '{"a":" x"}', [row('a', 'is', '" x"')]],
    ['a list', '{"a":["x","7",7,null]}', [row('a', 'anyOf', 'x, "7", 7, null')]],
    ['a list with commas in it', '{"a":["x, y","z"]}', [row('a', 'anyOf', '"x, y", z')]],
    [
      'a range',
      '{"a.b":{"gt":1e400,"lte":5}}',
      [row('a.b', 'gt', '1e400'), row('a.b', 'lte', '5')],
    ],
    ['a prefix', '{"a":{"prefix":"+49 "}}', [row('a', 'prefix', '+49 ')]],
    ['an empty prefix', '{"a":{"prefix":" "}}', [row('a', 'json', '{"prefix":" "}')]],
    ['a member that exists', '{"a":{"exists":true}}', [row('a', 'exists')]],
    ['a member that does not', '{"a":{"exists":false}}', [row('a', 'absent')]],
    ['a value that it is not', '{"a":{"not":"x"}}', [row('a', 'isNot', 'x')]],
    ['a nested condition', '{"a":{"not":{"gt":5}}}', [row('a', 'json', '{"not":{"gt":5}}')]],
    ['a list that it is not in', '{"a":{"not":[1,2]}}', [row('a', 'json', '{"not":[1,2]}')]],
    ['a list in a list', '{"a":["x",{"gt":1}]}', [row('a', 'json', '["x",{"gt":1}]')]],
    ['what is unknown here', '{"a":{"near":5}}', [row('a', 'json', '{"near":5}')]],
  ])('with %s is shown as rows, and sent as it was', (_, filter, rows) => {
    expect(rowsOfFilter(filter)).toEqual(rows);
    expect(filterOf(rows)).toBe(filter);
  });

  it('does not count rows that are empty', () => {
    const rows = [row('', 'is'), row(' a ', 'is', ' 7 ')];
    expect(filterOf(rows)).toBe('{"a":7}');
    expect(filterText(valueOf(rows))).toBe('1 condition');
    expect(filterOf([row('', 'is')])).toBeUndefined();
    expect(countOf([...rows, row('a', 'lt', '9'), row('b', 'exists')])).toBe(3);
  });

  it('survives the form', () => {
    expect(rowsOf(valueOf([row('a', 'exists')]))).toEqual([row('a', 'exists')]);
    expect([valueOf([]), rowsOf('')]).toEqual(['', []]);
  });

  it('leaves it to the API to judge a value', () => {
    expect(filterOf([row('a', 'gt', 'five')])).toBe('{"a":{"gt":"five"}}');
  });
});

describe('a filter that is typed', () => {
  it.each<[string, FilterRow[], string | undefined]>([
    ['no rows', [], undefined],
    ['no value', [row('a', 'is', '7'), row('b', 'is')], undefined],
    ['no member', [row('', 'is', '7')], undefined],
    ['rows that do not go together', [row('a', 'is', '7'), row('a', 'is', '8')], undefined],
    ['an empty row', [row('a', 'exists'), row('', 'is')], '{"a":{"exists":true}}'],
  ])('with %s is tried only if it is complete', (_, rows, filter) => {
    expect(previewOf(rows)).toBe(filter);
  });
});

describe('rows that make no filter', () => {
  const [none, some] = [row('a', 'gt'), row('a', 'lt', '7')];

  it.each<[string, FilterRow[], keyof FilterRow]>([
    ['A condition names no member.', [row(' ', 'is', '7')], 'path'],
    ['a has two conditions', [row('a', 'is', '7'), row('a', 'gt', '5')], 'kind'],
    ['a has two conditions', [row('a', 'gt', '7'), row('a', 'gt', '5')], 'kind'],
    ['a has two conditions', [row('a', 'exists'), row('a', 'absent')], 'kind'],
    ['The condition on a must be valid JSON.', [row('a', 'json', '{')], 'value'],
    ['The condition on a has no value. Write "" for an empty text.', [row('a', 'is')], 'value'],
    ['The condition on a has no value.', [row('a', 'prefix', ' ')], 'value'],
  ])('are refused: %s', (sentence, rows, input) => {
    const fault = faultOfRows(rows);
    expect(fault?.message).toContain(sentence);
    expect(fault).toMatchObject({ rows, input });
  });

  it('are not marked beside one that has no value', () => {
    expect(faultOfRows([none, some])?.rows).toEqual([none]);
    expect(faultOfRows([none, some])?.message).toBe('The condition on a has no value.');
  });

  it('are others', () => {
    expect(faultOfRows([row('a', 'gt', '5'), row('a', 'lt', '7'), row('', 'is')])).toBeUndefined();
  });
});

describe('a fault of the API', () => {
  it.each<[string, FilterRow, keyof FilterRow | undefined]>([
    ['/filter/a/gt', row('a', 'gt', 'x'), 'value'],
    ['/filter/a/gt', row('a', 'lt', '7'), undefined],
    ['/filter/a', row('a', 'is', '1e9999999999'), 'value'],
    ['/filter/a/1', row('a', 'anyOf', '7, 1e9999999999'), 'value'],
    ['/filter/a~1b/not', row(' a/b', 'isNot', '1e9999999999'), 'value'],
    ['/filter/a..b', row('a..b', 'gt', '7'), 'path'],
    ['/filter/b', row('a', 'is', '7'), undefined],
  ])('at %s is about an input', (field, of, input) => {
    expect(wrongInput(of, { [field]: 'It is wrong.' })).toBe(input);
  });
});
