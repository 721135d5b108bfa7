import type { Request } from 'express';
import {
  type FieldCode,
  type FieldFault,
  isNumericId,
  isUuid,
  type Page,
  ValidationError,
} from '#libs/kernel';
import { isStrict, unknownFaults } from './strict-handling.js';

/** The largest and the default number of rows in a page. */
export const MAX_LIMIT = 1_000;
export const DEFAULT_LIMIT = 100;
// RFC 3339, section 5.6. Date checks the calendar, but would accept 24:00 as the next day.
const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;

/** The rule for a time in a request, in words. */
export const TIME_RULE =
  'must be an RFC 3339 time with Z or an offset, such as 2026-01-31T12:00:00Z or ' +
  '2026-01-31T13:00:00+01:00, of the years 1 to 9999 in UTC';

// The range that both RFC 3339 and PostgreSQL can represent, in UTC.
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Which texts a filter can find. */
export interface FilterRule {
  accepts: (text: string) => boolean;
  code: FieldCode;
  says: string;
}

export function among(choices: readonly string[]): FilterRule {
  return {
    accepts: (text) => choices.includes(text),
    code: 'choice',
    says: `must be one of ${choices.join(', ')}`,
  };
}

/**
 * Reads the query parameters of a route and collects every fault. Unknown parameters are ignored, and values of
 * filters that nothing has find nothing, unless the request wants strict handling. Call
 * {@link QueryReader.done} before using the values.
 */
export class QueryReader {
  private readonly faults: FieldFault[] = [];
  private readonly known = new Set<string>();

  constructor(private readonly request: Request) {}

  text(name: string): string | undefined {
    this.known.add(name);
    const value = this.request.query[name];
    if (value === undefined) return undefined;
    // Replaced, because PostgreSQL refuses such text. No row contains it, so it finds nothing.
    if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed();
    this.fault(name, 'not_allowed', 'must be given only once');
    return undefined;
  }

  /** An id to look for. A malformed one finds nothing, like the id 0. */
  numericId(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || isNumericId(value)) return value;
    this.strictFault(name, 'format', 'must be an id');
    return '0';
  }

  /** A text to look for. */
  filter(name: string, { accepts, code, says }: FilterRule): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !accepts(value)) this.strictFault(name, code, says);
    return value;
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(name);
    if (value === undefined || choices.includes(value as Choice))
      return value as Choice | undefined;
    const { code, says } = among(choices);
    this.fault(name, code, says);
    return undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.choice(name, ['true', 'false']);
    return value === undefined ? undefined : value === 'true';
  }

  time(name: string): Date | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    // In a query, + stands for a blank, and many clients do not escape the one before an offset.
    const time = parseTime(value.replace(/ (?=\d{2}:\d{2}$)/, '+'));
    if (!time) this.fault(name, 'format', TIME_RULE);
    return time;
  }

  wholeNumber(name: string, most: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= most) return number;
    this.fault(name, 'range', `must be a whole number from 1 to ${String(most)}`);
    return undefined;
  }

  /** `limit` and `after` of a list that is returned whole if no limit is given. */
  optionalPage(): { limit?: number; after?: string } {
    const limit = this.wholeNumber('limit', MAX_LIMIT);
    const after = this.text('after');
    if (after !== undefined && !isNumericId(after)) this.fault('after', 'format', 'must be an id');
    return { ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) };
  }

  /** `limit` and `after` of a list that is always paged. @param isId checks the format of its ids */
  page(isId = isUuid): Page {
    const after = this.text('after');
    if (after !== undefined && !isId(after)) this.fault('after', 'format', 'must be an id');
    return {
      limit: this.wholeNumber('limit', MAX_LIMIT) ?? DEFAULT_LIMIT,
      ...(after !== undefined && { after }),
    };
  }

  /** @throws ValidationError if any parameter was faulty */
  done(): void {
    if (isStrict(this.request)) {
      const names = Object.keys(this.request.query).filter((name) => !this.known.has(name));
      this.faults.push(...unknownFaults(names, [...this.known], (name) => name));
    }
    if (this.faults.length > 0) throw new ValidationError(this.faults);
  }

  private strictFault(field: string, code: FieldCode, says: string): void {
    if (isStrict(this.request)) this.fault(field, code, says);
  }

  private fault(field: string, code: FieldCode, says: string): void {
    this.faults.push({ field, code, message: `The query parameter ${field} ${says}.` });
  }
}

/** The text parameters that are given. */
export function textsOf<Name extends string>(
  query: QueryReader,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = query.text(name);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** The filters that are given. */
export function filtersOf<Name extends string>(
  query: QueryReader,
  rules: Record<Name, FilterRule>,
): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {};
  for (const name in rules) {
    const text = query.filter(name, rules[name]);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** `since` and `until`, if given. */
export function timesOf(query: QueryReader): { since?: Date; until?: Date } {
  const since = query.time('since');
  const until = query.time('until');
  return { ...(since && { since }), ...(until && { until }) };
}

/** The time of an RFC 3339 text; undefined if it is not valid. */
export function parseTime(text: string): Date | undefined {
  const [, date, minute, second, fraction = '', offset] = TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  const isLeap = second === '60';
  const precise = fraction.slice(0, 4);
  const time = new Date(
    `${date}T${minute}:${isLeap ? '59' : second}${precise}${offset?.toUpperCase()}`,
  );
  if (isLeap) {
    // Date has no leap seconds, so this becomes the first second of the next day in UTC.
    time.setTime(time.getTime() + 1_000);
    if (!(time.getTime() % DAY_MS < 1_000)) return undefined;
  }
  if (!(time.getTime() >= FIRST_TIME && time.getTime() <= LAST_TIME)) return undefined;
  // Date turns 2026-02-30 into a day in March, but a day that does not exist is a fault.
  const day = Number(text.slice(8, 10));
  const daysInMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0));
  return day <= daysInMonth.getUTCDate() ? time : undefined;
}
