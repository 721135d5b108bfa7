import { faultAt, type Faults } from '../../app/faults.js';
import { isJson, rawMembers } from '../delivery/raw-json.js';

/** A condition on a member of the events' data, as it is typed. */
export interface FilterRow {
  /** `call.duration` */
  path: string;
  kind: Kind;
  /** Empty for conditions without a value. */
  value: string;
}

/** The conditions, in words. `json` stands for every condition that has no words here. */
export const KINDS = {
  is: 'is',
  isNot: 'is not',
  anyOf: 'is one of',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  prefix: 'starts with',
  exists: 'exists',
  absent: 'does not exist',
  json: 'other (JSON)',
} as const;

export type Kind = keyof typeof KINDS;

/** The members that a filter may have. */
export const MOST_MEMBERS = 10;

/** Whether a condition of this kind has a value. */
export const hasValue = (kind: Kind): boolean => kind !== 'exists' && kind !== 'absent';

/** The rows of a form's value. A text, because the values of forms are compared. */
export const rowsOf = (value: string): FilterRow[] =>
  value === '' ? [] : (JSON.parse(value) as FilterRow[]);

/** The form's value of these rows. */
export const valueOf = (rows: readonly FilterRow[]): string =>
  rows.length === 0 ? '' : JSON.stringify(rows);

/** The rows of a filter. @param filter its JSON text, which keeps all digits of numbers */
export function rowsOfFilter(filter: string): FilterRow[] {
  return [...rawMembers(filter)].flatMap(([path, condition]) =>
    partsOf(condition).map((part) => ({ path, ...part })),
  );
}

type Part = Omit<FilterRow, 'path'>;

/** Several operators of one condition are several rows. */
function partsOf(condition: string): Part[] {
  const other: Part = { kind: 'json', value: condition };
  if (condition.startsWith('[')) return [listOf(condition) ?? other];
  if (!condition.startsWith('{')) return [{ kind: 'is', value: textOf(condition) }];
  const parts = [...rawMembers(condition)].map(([operator, operand]) => partOf(operator, operand));
  return parts.length > 0 && parts.every((part) => part !== undefined) ? parts : [other];
}

function partOf(operator: string, operand: string): Part | undefined {
  switch (operator) {
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { kind: operator, value: operand };
    case 'prefix': {
      const value = JSON.parse(operand) as string;
      // As JSON, because a row without a value is incomplete.
      return value.trim() === '' ? undefined : { kind: 'prefix', value };
    }
    case 'exists':
      return { kind: operand === 'true' ? 'exists' : 'absent', value: '' };
    case 'not':
      return /^[[{]/.test(operand) ? undefined : { kind: 'isNot', value: textOf(operand) };
    default:
      return undefined;
  }
}

const PIECE = /"(?:[^"\\]|\\.)*"|[^",\s][^,]*/g;

/** A list of plain values; undefined if one of them is not plain. */
function listOf(array: string): Part | undefined {
  const items = array.slice(1, -1).match(PIECE) ?? [];
  if (items.some((item) => /^[[{]/.test(item))) return undefined;
  const texts = items.map((item) => (isQuoted(item) ? quotedIfUnclear(item) : item.trim()));
  return { kind: 'anyOf', value: texts.join(', ') };
}

const isQuoted = (text: string): boolean => text.startsWith('"');

/** In a list, a text with a comma or a quote is unclear, too. */
const quotedIfUnclear = (json: string): string => {
  const text = textOf(json);
  return /[",]/.test(text) ? json : text;
};

/** A plain value as people type it: a text without quotes, unless it would be read as something else. */
function textOf(json: string): string {
  if (!isQuoted(json)) return json;
  const text = JSON.parse(json) as string;
  return text !== '' && jsonOf(text) === JSON.stringify(text) ? text : json;
}

/** What is typed as JSON: numbers, words and quoted texts are what they look like, all else is text. */
function jsonOf(typed: string): string {
  const text = typed.trim();
  return text !== '' && !/^[[{]/.test(text) && isJson(text) ? text : JSON.stringify(text);
}

const isBlank = ({ path, value }: FilterRow): boolean => path.trim() === '' && value.trim() === '';

/** The rows of each member that they name, in order. */
function membersOf(rows: readonly FilterRow[]): Map<string, FilterRow[]> {
  const members = new Map<string, FilterRow[]>();
  for (const row of rows) {
    if (isBlank(row)) continue;
    const path = row.path.trim();
    members.set(path, [...(members.get(path) ?? []), row]);
  }
  return members;
}

/** How many members rows name; a row without one counts, too. */
export const countOf = (rows: readonly FilterRow[]): number =>
  membersOf(rows).size + rows.filter(isBlank).length;

/** The JSON text of the filter that rows make; undefined without any. */
export function filterOf(rows: readonly FilterRow[]): string | undefined {
  const members = [...membersOf(rows)].map(
    ([path, conditions]) => `${JSON.stringify(path)}:${conditionOf(conditions)}`,
  );
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}

/** The condition of one row, as JSON text. */
export const jsonOfRow = (row: FilterRow): string => conditionOf([row]);

function conditionOf(rows: readonly FilterRow[]): string {
  const [{ kind, value }] = rows as [FilterRow];
  if (kind === 'is') return jsonOf(value);
  if (kind === 'anyOf') return `[${(value.match(PIECE) ?? []).map(jsonOf).join(',')}]`;
  if (kind === 'json') return value;
  const operators = rows.map((row) => `"${OPERATORS[row.kind] ?? row.kind}":${operandOf(row)}`);
  return `{${operators.join(',')}}`;
}

const OPERATORS: Partial<Record<Kind, string>> = { isNot: 'not', absent: 'exists' };

function operandOf({ kind, value }: FilterRow): string {
  if (kind === 'exists') return 'true';
  if (kind === 'absent') return 'false';
  return kind === 'prefix' ? JSON.stringify(value) : jsonOf(value);
}

/** A fault of rows, and the input of each that is wrong. */
export interface RowsFault {
  message: string;
  rows: readonly FilterRow[];
  input: keyof FilterRow;
}

/** What is wrong with rows that are incomplete, or that no request could express; undefined if nothing is. */
export function faultOfRows(rows: readonly FilterRow[]): RowsFault | undefined {
  for (const [path, conditions] of membersOf(rows)) {
    if (path === '') {
      return { message: 'A condition names no member.', rows: conditions, input: 'path' };
    }
    const operators = conditions.map(({ kind }) => OPERATORS[kind] ?? kind);
    const isAlone = operators.some((operator) => ALONE.includes(operator));
    const isRepeated = new Set(operators).size < operators.length;
    if ((isAlone && operators.length > 1) || isRepeated) {
      const message = `${path} has two conditions that do not go together.`;
      return { message, rows: conditions, input: 'kind' };
    }
    const empty = conditions.find(({ kind, value }) => hasValue(kind) && value.trim() === '');
    if (empty) {
      const advice = MAY_BE_EMPTY.includes(empty.kind) ? ' Write "" for an empty text.' : '';
      const message = `The condition on ${path} has no value.${advice}`;
      return { message, rows: [empty], input: 'value' };
    }
    const other = conditions.find(({ kind, value }) => kind === 'json' && !isJson(value));
    if (other) {
      const message = `The condition on ${path} must be valid JSON.`;
      return { message, rows: [other], input: 'value' };
    }
  }
  return undefined;
}

/** Conditions without an operator in the filter's JSON. */
const ALONE: readonly string[] = ['is', 'anyOf', 'json'];
const MAY_BE_EMPTY: readonly Kind[] = ['is', 'isNot', 'anyOf'];

/** The paths that the API accepts. */
const PATH = /^[^.]+(\.[^.]+){0,4}$/;

/** The input of a row that a fault of the API is about; undefined if it has none. */
export function wrongInput({ path, kind }: FilterRow, faults: Faults): keyof FilterRow | undefined {
  const name = path.trim();
  const field = `filter/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (!PATH.test(name)) return faultAt(faults, field) === undefined ? undefined : 'path';
  const operand = ALONE.includes(kind) ? field : `${field}/${OPERATORS[kind] ?? kind}`;
  return faultAt(faults, operand) === undefined ? undefined : 'value';
}

export const NO_FILTER = 'every event';

/** The filter to try; undefined while there is none or a row is wrong. */
export function previewOf(rows: readonly FilterRow[]): string | undefined {
  return faultOfRows(rows) === undefined ? filterOf(rows) : undefined;
}

/** `2 conditions` */
export function filterText(value: string): string {
  const count = rowsOf(value).filter((row) => !isBlank(row)).length;
  if (count === 0) return NO_FILTER;
  return count === 1 ? '1 condition' : `${count} conditions`;
}
