import type { Request } from 'express';
import { RawJson } from '#libs/kernel';
import type { HrefBuilder } from './request.js';
import { exampleOf, type Schema } from './openapi/schema.js';
import type { View } from './view.js';

/** What rows look like in an export. */
export interface ExportFormat<Row> {
  contentType: string;
  extension: string;
  /** The text before the first row. */
  header: string;
  text: (row: Row, href: HrefBuilder) => string;
}

/** The media types of a list, besides JSON. */
export const EXPORT_TYPES = ['application/x-ndjson', 'text/csv'] as const;
type ExportType = (typeof EXPORT_TYPES)[number];

/** With the parameters that a client may name, too. */
const CSV = 'text/csv; charset=utf-8; header=present';
const OFFERED = ['application/json; charset=utf-8', 'application/x-ndjson; charset=utf-8', CSV];

/** The most, and the default, lines of an export. */
export const MAX_EXPORTED = 100_000;

/** The type of an export that a request prefers; undefined for JSON, also if it accepts nothing that there is. */
export function exportTypeOf(request: Request): ExportType | undefined {
  if (request.headers.accept === undefined) return undefined;
  const preferred = request.accepts(OFFERED) || '';
  return EXPORT_TYPES.find((type) => preferred.startsWith(type));
}

/** What CSV changes, for the description. */
export const CSV_CHANGES =
  "In `text/csv`, a `'` precedes `=`, `+`, `-`, `@` and their full-width forms wherever a spreadsheet that splits at " +
  'commas, semicolons or tabs would begin a cell. JSON strings have them escaped instead (`\\u003d`). In JSON with a tab ' +
  'or line break before a negative number, spaces replace all tabs and line breaks.';

export function exportFormatOf<Row>(type: ExportType, view: View<Row>): ExportFormat<Row> {
  return type === 'text/csv' ? csvOf(view) : ndjsonOf(view);
}

/**
 * The description of an export of a list, which has none itself, because it is not JSON as a whole: an example of
 * each type.
 */
export function exportContent({
  items: row = {},
}: Schema): Record<ExportType, { example: string }> {
  const example = exampleOf(row);
  const columns = columnsOf(row);
  const cells = columns.map((path) => cellOf(memberOf(example, path)));
  return {
    ...linesContent({ items: row }),
    'text/csv': {
      example: lineOf(columns.map((path) => path.join('.'))) + lineOf(cells),
    },
  };
}

/** The description of a list as lines of JSON: see {@link exportContent}. */
export function linesContent({ items: row = {} }: Schema) {
  return { 'application/x-ndjson': { example: `${JSON.stringify(exampleOf(row))}\n` } };
}

/** A JSON text in each line. Line breaks in text as it was sent are white space of JSON, so that blanks replace them. */
function ndjsonOf<Row>(view: View<Row>): ExportFormat<Row> {
  return {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    header: '',
    text: (row, href) => `${view.text(row, href).replaceAll(/[\r\n]/g, ' ')}\n`,
  };
}

/** RFC 4180, with the members of the rows and of objects in them as columns. */
function csvOf<Row>(view: View<Row>): ExportFormat<Row> {
  const columns = columnsOf(view.schema);
  return {
    contentType: CSV,
    extension: 'csv',
    header: lineOf(columns.map((path) => path.join('.'))),
    text: (row, href) => {
      const shown = view.show(row, href);
      return lineOf(columns.map((path) => cellOf(memberOf(shown, path))));
    },
  };
}

function columnsOf({ properties = {} }: Schema): string[][] {
  return Object.entries(properties).flatMap(([name, member]) =>
    member.properties ? columnsOf(member).map((path) => [name, ...path]) : [[name]],
  );
}

function memberOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((of, name) => (of as Record<string, unknown> | undefined)?.[name], value);
}

/**
 * What a spreadsheet takes for a formula where it sees a cell begin. One that splits at semicolons or tabs takes the
 * quotes of RFC 4180 for text, so that a cell of its own may begin behind each of these and behind a line break.
 * Readers skip blanks, quotes and invisible characters. It looks back from the character, which takes linear time.
 */
const FORMULA = /[=+\-@＝＋－＠](?<=(?:^|[;\p{Cc}\u2028\u2029])[\s"\p{C}]*.)/gu;
/** A negative number of JSON behind a tab or a line break. */
const BROKEN_BEFORE_NUMBER = /-(?<=[\t\r\n]\s*-)/;

/** As {@link CSV_CHANGES} says. */
function cellOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = plainTextOf(value);
  if (text !== undefined) return text.replaceAll(FORMULA, "'$&");
  const json = value instanceof RawJson ? value.text : JSON.stringify(value);
  // Numbers have no escapes, but white space outside of strings may be any.
  const spaced = BROKEN_BEFORE_NUMBER.test(json) ? json.replaceAll(/[\t\r\n]/g, ' ') : json;
  return spaced.replaceAll(FORMULA, escapeOf);
}

function plainTextOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(',') : undefined;
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

/** Quotes semicolons and tabs, too, for a reader that splits at several separators. */
function quoted(cell: string): string {
  return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
