import express, { type Request } from 'express';
import { expect, it } from 'vitest';
import { RawJson } from '#libs/kernel';
import { exportContent, exportFormatOf, exportTypeOf } from './export-formats.js';
import * as schema from './openapi/schema.js';
import { computed, viewOf } from './view.js';

interface Row {
  id: string;
  name?: string;
  at?: Date;
  count: number;
  last?: { status?: number; error?: string };
  fields?: string[];
  data?: string;
}

const LAST = schema.object({
  status: schema.optional(schema.integer('', 200)),
  error: schema.optional(schema.text('', 'dns')),
});
const VIEW = viewOf<Row>()('Row', {
  id: schema.text('', 'a'),
  name: schema.optional(schema.text('', 'b')),
  at: schema.optional(schema.time('')),
  count: schema.integer('', 1),
  last: schema.optional(LAST),
  fields: schema.optional(schema.arrayOf(schema.text('', 'x'))),
  data: computed(schema.optional(schema.anyObject('', {})), ({ data }) =>
    data === undefined ? undefined : new RawJson(data),
  ),
});
const href = () => '';

function typeFor(accept: string | undefined): string | undefined {
  const request = Object.create(express.request) as Request;
  request.headers = accept === undefined ? {} : { accept };
  return exportTypeOf(request);
}

it.each([
  [undefined, undefined],
  ['', undefined],
  ['*/*', undefined],
  ['application/json', undefined],
  ['application/*', undefined],
  ['application/xml', undefined],
  ['nonsense', undefined],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', undefined],
  ['application/json, text/plain, */*', undefined],
  ['text/csv;q=0.5, application/json', undefined],
  ['text/csv;q=0, */*', undefined],
  ['text/csv;q=0', undefined],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV; header=present', 'text/csv'],
  ['text/*', 'text/csv'],
  ['text/csv, */*;q=0.1', 'text/csv'],
  ['text/csv, */*', 'text/csv'],
  ['application/json;q=0.5, text/csv', 'text/csv'],
  ['application/x-ndjson', 'application/x-ndjson'],
  ['text/csv;q=0.5, application/x-ndjson;q=0.6', 'application/x-ndjson'],
])('prefers for %s the type %s', (accept, type) => {
  expect(typeFor(accept)).toBe(type);
});

it('writes each row as a line of JSON, with text as it was sent but for line breaks', () => {
  const { header, text: line } = exportFormatOf('application/x-ndjson', VIEW);
  expect(header).toBe('');
  const data = '{"n": 1.0,\r\n "n":\t2, "é": "\\u00e9\\n"}';
  const text = line({ id: 'a', count: 1, data }, href);
  expect(text).toBe('{"id":"a","count":1,"data":{"n": 1.0,   "n":\t2, "é": "\\u00e9\\n"}}\n');
});

it('writes CSV with a column for each member, also of objects', () => {
  const { header, text: line } = exportFormatOf('text/csv', VIEW);
  expect(header).toBe('id,name,at,count,last.status,last.error,fields,data\r\n');
  expect(exportFormatOf('text/csv', VIEW.without('data')).header).toBe(
    'id,name,at,count,last.status,last.error,fields\r\n',
  );
  const at = new Date('2026-01-31T12:00:00Z');
  const row = { id: 'a', at, count: 2, last: { status: 404 }, fields: ['x', 'y'] };
  expect(line(row, href)).toBe('a,,2026-01-31T12:00:00.000Z,2,404,,"x,y",\r\n');
  const data = '{"a": "b",\n"c": ""}';
  expect(line({ id: 'a', count: 2, data }, href)).toBe(
    `a,,,2,,,,"{""a"": ""b"",\n""c"": """"}"\r\n`,
  );
});

it.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\r\nb', '"a\r\nb"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['\t=1', `"\t'=1"`],
  ['\r=1', `"\r'=1"`],
  ['\n=1', `"\n'=1"`],
  ['  =1', "  '=1"],
  ['\u00a0\ufeff\u200b=1', "\u00a0\ufeff\u200b'=1"],
  ['"=1', `"""'=1"`],
  ['="a"', `"'=""a"""`],
  ["'=1", "'=1"],
  ['a=1', 'a=1'],
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['a;=1+1;', `"a;'=1+1;"`],
  ["x;=cmd|'/C calc'!A0", `"x;'=cmd|'/C calc'!A0"`],
  ['a;;+1;-1', `"a;;'+1;'-1"`],
  ['a\t=1\t@A1', `"a\t'=1\t'@A1"`],
  ['a\r\n=1', `"a\r\n'=1"`],
  ['a\u2028=1', "a\u2028'=1"],
  ['a; =1', `"a; '=1"`],
  ['a;"=1"', `"a;""'=1"""`],
  ['a;＝1', `"a;'＝1"`],
  ['a, =1', '"a, =1"'],
])('writes %j as the cell %j', (name, cell) => {
  const { text: line } = exportFormatOf('text/csv', VIEW);
  expect(line({ id: 'a', name, count: 1 }, href)).toBe(`a,${cell},,1,,,,\r\n`);
});

/** The cells that a reader sees that splits at this separator, and knows quotes only at the beginning of a cell. */
function cellsOf(line: string, separator: string): string[] {
  const quoted = `"(?:[^"]|"")*"[^${separator}\r\n]*`;
  return line.match(new RegExp(`${quoted}|[^${separator}\r\n]+`, 'g')) ?? [];
}

it.each([
  ['a comma', ','],
  ['a semicolon', ';'],
  ['a tab', '\t'],
])('has no formula for a reader that splits at %s', (_, separator) => {
  const { text: line } = exportFormatOf('text/csv', VIEW);
  const pieces = ['x', ' ', '"', ';', '\t', '\r\n', ',', "'"];
  const names = pieces.flatMap((one) =>
    pieces.flatMap((two) => pieces.map((three) => one + two + three)),
  );
  const cells = names.flatMap((start) =>
    Array.from('=+-@＝＋－＠').flatMap((character) => {
      const name = `${start}${character}1`;
      const data = [`{"a":\t${JSON.stringify(name)},\n"b": [\n-1,\t-2]}`, `{\n"${character}": 1}`];
      return data.flatMap((data) =>
        cellsOf(line({ id: 'a', name, count: 1, data }, href), separator),
      );
    }),
  );
  expect(cells.length).toBeGreaterThan(names.length);
  expect(cells.filter((cell) => /^[\s"]*[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
});

it('changes no value of the data', () => {
  const { text: line } = exportFormatOf('text/csv', VIEW);
  const data = '{"from": "x;=cmd|y; ＝\\";+\\";@", "a;-": [-1,\n-2], ";": -3}';
  const text = line({ id: 'a', count: 1, data }, href);
  const cell = text.slice('a,,,1,,,,"'.length, -'"\r\n'.length).replaceAll('""', '"');
  expect(cell).toBe(
    '{"from": "x;\\u003dcmd|y; \\uff1d\\";\\u002b\\";\\u0040", "a;\\u002d": [-1, -2], ";": -3}',
  );
  expect(JSON.parse(cell)).toEqual(JSON.parse(data));
});

it('leaves a negative number a number', () => {
  const { text: line } = exportFormatOf('text/csv', VIEW);
  expect(line({ id: 'a', count: -1 }, href)).toBe('a,,,-1,,,,\r\n');
});

it('has an example of each type', () => {
  expect(exportContent(schema.arrayOf(VIEW.without('data').without('at').schema))).toEqual({
    'application/x-ndjson': {
      example:
        '{"id":"a","name":"b","count":1,"last":{"status":200,"error":"dns"},"fields":["x"]}\n',
    },
    'text/csv': { example: 'id,name,count,last.status,last.error,fields\r\na,b,1,200,dns,x\r\n' },
  });
});
