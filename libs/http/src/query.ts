import { parse } from 'node:querystring';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  type FieldFault,
  isNumericId,
  isStorable,
  isUuid,
  oneOf,
  type Page,
  parseTime,
  type Problem,
  string,
  time,
  TIME_RULE,
  ValidationError,
  type Validator,
} from '#libs/kernel';
import { EXPORT_TYPES, exportTypeOf, MAX_EXPORTED } from './export-answer.js';
import type { Parameters } from './openapi/describe.js';
import * as schema from './openapi/schema.js';
import { isStrict, unknownFaults } from './strict-handling.js';

/** The largest and the default number of rows in a page. */
const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

const TIME = time();
const FLAG = oneOf(['true', 'false']);
const idThat = (isId: (text: string) => boolean) => string().and('format', 'must be an id', isId);
const NUMERIC_ID = idThat(isNumericId);
const UUID = idThat(isUuid);

/** A text that no row has, because every text that filters compare is shorter. */
const UNKNOWN = '?'.repeat(256);

/**
 * Express' query parser, by which `+` stands for a blank. But many clients do not escape the one of a telephone number, and
 * texts hardly begin with a blank and a digit: in front of a digit at the start of a value it stands for itself.
 * @param text null if there is no query
 */
export function parseQuery(text: string | null): Record<string, string | string[] | undefined> {
  return parse((text ?? '').replaceAll(/((?:^|&)[^=&]*=)\+(?=\d)/g, '$1%2B'));
}

/** In the description of a text that may be a telephone number. */
export const PLUS_AT_START =
  'Encode `+` as `%2B`, except at the start in front of a digit. Elsewhere, `+` means a space.';

/** A whole number from 1, as a text. */
export function numberUpTo(most: number): Validator<string> {
  return string().and(
    'range',
    `must be a whole number from 1 to ${most}`,
    (text) => /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most,
  );
}

const LIMIT = numberUpTo(MAX_LIMIT);
const EXPORT_LIMIT = numberUpTo(MAX_EXPORTED);

/**
 * The query of a request, read with a {@link QueryReader}: `@QueryOf((query) => query.page()) page: Page`.
 * @throws ValidationError with all faults
 */
export const QueryOf = createParamDecorator(
  (
    read: (query: QueryReader, path: Request['params']) => unknown,
    context: ExecutionContext,
  ): unknown => {
    const request = context.switchToHttp().getRequest<Request>();
    const query = new QueryReader(request);
    const value = read(query, request.params);
    query.done();
    return value;
  },
);

/**
 * Reads the query parameters of a route and collects every fault. Unknown parameters are ignored, and values of
 * filters that nothing has find nothing, unless the request wants strict handling. Call
 * {@link QueryReader.done} before using the values.
 */
export class QueryReader {
  private readonly faults: FieldFault[] = [];
  private readonly known = new Set<string>();

  constructor(private readonly request: Request) {}

  /** A text that stored ones are compared with. One that PostgreSQL cannot store finds nothing. */
  text(name: string): string | undefined {
    const value = this.sent(name);
    return value === undefined || isStorable(value) ? value : UNKNOWN;
  }

  /** A text that must be valid. */
  valid<Value extends string>(name: string, validator: Validator<Value>): Value | undefined {
    const value = this.sent(name);
    return this.isValid(name, value, validator) ? value : undefined;
  }

  /** A text to look for. One that is not valid finds nothing. */
  filter(name: string, validator: Validator<string>): string | undefined {
    const value = this.text(name);
    if (isStrict(this.request)) this.isValid(name, value, validator);
    return value;
  }

  /** An id to look for. One that is not valid finds nothing, like the id 0. */
  numericId(name: string): string | undefined {
    const value = this.filter(name, NUMERIC_ID);
    return value === undefined || isNumericId(value) ? value : '0';
  }

  flag(name: string): boolean | undefined {
    const value = this.valid(name, FLAG);
    return value === undefined ? undefined : value === 'true';
  }

  time(name: string): Date | undefined {
    // In a query, + stands for a blank, and many clients do not escape the one before an offset.
    const value = this.sent(name)?.replace(/ (?=\d{2}:\d{2}$)/, '+');
    return this.isValid(name, value, TIME) ? parseTime(value) : undefined;
  }

  /** @param validator made by {@link numberUpTo} */
  number(name: string, validator: Validator<string>): number | undefined {
    const value = this.valid(name, validator);
    return value === undefined ? undefined : Number(value);
  }

  /** `limit` and `after` of a list that is returned whole if no limit is given. */
  optionalPage(): Partial<Page> {
    return given({ limit: this.number('limit', LIMIT), after: this.valid('after', NUMERIC_ID) });
  }

  /** `limit` and `after` of a list that is always paged. @param id the format of its ids */
  page(id: Validator<string> = UUID): Page {
    const after = this.valid('after', id);
    return { limit: this.number('limit', LIMIT) ?? DEFAULT_LIMIT, ...given({ after }) };
  }

  /** Like {@link page}, of a list that can also be exported. */
  exportablePage(): Page {
    if (exportTypeOf(this.request) === undefined) return this.page();
    const limit = this.number('limit', EXPORT_LIMIT) ?? MAX_EXPORTED;
    return { limit, ...given({ after: this.valid('after', UUID) }) };
  }

  /** `since` and `until`, if given. */
  times(): { since?: Date; until?: Date } {
    return given({ since: this.time('since'), until: this.time('until') });
  }

  /** @throws ValidationError if any parameter was faulty */
  done(): void {
    if (isStrict(this.request)) {
      const names = Object.keys(this.request.query).filter((name) => !this.known.has(name));
      this.faults.push(...unknownFaults(names, [...this.known], (name) => name));
    }
    if (this.faults.length > 0) throw new ValidationError(this.faults);
  }

  private sent(name: string): string | undefined {
    this.known.add(name);
    const value = this.request.query[name];
    if (value === undefined || typeof value === 'string') return value;
    this.fault(name, { code: 'not_allowed', says: 'must be given only once' });
    return undefined;
  }

  private isValid<Value extends string>(
    name: string,
    value: string | undefined,
    validator: Validator<Value>,
  ): value is Value {
    if (value === undefined) return false;
    const [problem] = validator.check(value);
    if (problem) this.fault(name, problem);
    return problem === undefined;
  }

  private fault(field: string, { code, says }: Problem): void {
    this.faults.push({ field, code, message: `The query parameter ${field} ${says}.` });
  }
}

/** The members that are not undefined. */
export function given<Of extends object>(
  of: Of,
): { [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  const members = Object.entries(of).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [Name in keyof Of]?: Exclude<Of[Name], undefined> };
}

const limit = (rules: schema.Schema): schema.Schema => ({
  type: 'integer',
  minimum: 1,
  maximum: MAX_LIMIT,
  examples: [2],
  ...rules,
});

/** Describes {@link QueryReader.optionalPage}. */
export const OPTIONAL_PAGE: Parameters = {
  limit: { about: 'The size of the page; without it, the whole list.', schema: limit({}) },
  after: {
    about: 'Returns the entries after this id, in ascending order; must be an id, up to 2^63-1.',
    schema: schema.numericId('', '5080983'),
  },
};

/** Describes {@link QueryReader.page} of a list with the newest entry first. */
export const NEWEST_PAGE: Parameters = {
  limit: { about: 'The maximum number of entries.', schema: limit({ default: DEFAULT_LIMIT }) },
  after: { about: 'Returns entries older than the one with this id.', schema: schema.uuid('') },
};

/** Describes {@link QueryReader.exportablePage}. */
export const EXPORTABLE_PAGE: Parameters = {
  limit: {
    about:
      `The maximum number of entries: it must be a whole number from 1 to ${MAX_LIMIT} (by default ${DEFAULT_LIMIT}) in ` +
      `JSON. In ${EXPORT_TYPES.join(' and ')} it is at most, and by default, ${MAX_EXPORTED}.`,
    schema: limit({ maximum: MAX_EXPORTED }),
  },
  after: NEWEST_PAGE.after!,
};

/** Describes {@link QueryReader.times}. */
export const TIMES: Parameters = {
  since: { about: `Created at this time or later; ${TIME_RULE}.`, schema: schema.time('') },
  until: { about: `Created before this time; ${TIME_RULE}.`, schema: schema.time('') },
};
