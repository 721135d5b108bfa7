import {
  isNumericId,
  isStorable,
  isUuid,
  oneOf,
  parseTime,
  string,
  time as rfc3339,
  TIME_RULE,
  type Validator,
} from '#libs/kernel';
import { EXPORT_TYPES, exportTypeOf, MAX_EXPORTED } from './export-formats.js';
import * as schema from './openapi/schema.js';
import type { QueryParameter, QueryReader } from './query.js';
import { isStrict } from './strict-handling.js';

/** The largest and the default number of rows in a page. */
const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

const TIME = rfc3339();
const idThat = (isId: (text: string) => boolean) => string().and('format', 'must be an id', isId);
const NUMERIC_ID = idThat(isNumericId);

/** A text that no row has, because every text that filters compare is shorter. */
const UNKNOWN = '?'.repeat(256);

/** In the description of a text that may be a telephone number. */
export const PLUS_AT_START =
  'Encode `+` as `%2B`, except at the start in front of a digit. Elsewhere, `+` means a space.';

type Maybe<Value> = QueryParameter<Value | undefined>;

/** A parameter with the same description, whose value is read from the other's. */
function readAs<From, To>(
  of: QueryParameter<From>,
  convert: (value: From, query: QueryReader, name: string) => To,
): QueryParameter<To> {
  return { ...of, read: (query, name) => convert(of.read(query, name), query, name) };
}

/** A text that stored ones are compared with. One that PostgreSQL cannot store finds nothing. */
export function text(about: string, example: string): Maybe<string> {
  const sent = { about, schema: schema.text('', example), read: sentText };
  return readAs(sent, (value) => (value === undefined || isStorable(value) ? value : UNKNOWN));
}

const sentText = (query: QueryReader, name: string) => query.sent(name);

/** A text that must be valid. @param described its schema in the API's description */
export function valid<Value extends string>(
  validator: Validator<Value>,
  about: string,
  described: schema.Schema,
): Maybe<Value> {
  return readAs({ about, schema: described, read: sentText }, (value, query, name) =>
    query.isValid(name, value, validator) ? value : undefined,
  );
}

/** One of a few texts. */
export function choice<Value extends string>(
  about: string,
  choices: readonly Value[],
  example = choices[0],
): Maybe<Value> {
  return valid(oneOf(choices), about, schema.choice('', choices, example));
}

/** A text to look for. One that is not valid finds nothing. */
export function filter(
  validator: Validator<string>,
  about: string,
  example: string,
): Maybe<string> {
  return readAs(text(about, example), (value, query, name) => {
    if (isStrict(query.request)) query.isValid(name, value, validator);
    return value;
  });
}

/** An id to look for. One that is not valid finds nothing, like the id 0. */
export function numericId(about: string, example: string): Maybe<string> {
  return readAs(filter(NUMERIC_ID, about, example), (value) =>
    value === undefined || isNumericId(value) ? value : '0',
  );
}

export function flag(about: string): Maybe<boolean> {
  const word = valid(oneOf(['true', 'false']), about, schema.flag('', true));
  return readAs(word, (value) => (value === undefined ? undefined : value === 'true'));
}

export function time(about: string, example?: string): Maybe<Date> {
  const sent = { about, schema: schema.time('', example), read: sentText };
  return readAs(sent, (text, query, name) => {
    // In a query, + stands for a blank, and many clients do not escape the one before an offset.
    const value = text?.replace(/ (?=\d{2}:\d{2}$)/, '+');
    return query.isValid(name, value, TIME) ? parseTime(value) : undefined;
  });
}

/** A whole number from 1. @param more of its schema */
export function number(
  max: number,
  about: string,
  example: number,
  more: schema.Schema = {},
): Maybe<number> {
  const digits = string().and(
    'range',
    `must be a whole number from 1 to ${max}`,
    (given) => /^\d{1,9}$/.test(given) && Number(given) >= 1 && Number(given) <= max,
  );
  const range = { type: 'integer', minimum: 1, maximum: max, examples: [example], ...more };
  return readAs(valid(digits, about, range), (value) =>
    value === undefined ? undefined : Number(value),
  );
}

/** Of a list that is returned whole if no limit is given. */
export const OPTIONAL_PAGE = {
  limit: number(MAX_LIMIT, 'The size of the page; without it, the whole list.', 2),
  after: valid(
    NUMERIC_ID,
    'Returns the entries after this id, in ascending order; must be an id, up to 2^63-1.',
    schema.numericId('', '5080983'),
  ),
};

/** Of a list that is always paged, with the newest entry first. */
export const NEWEST_PAGE = {
  limit: readAs(
    number(MAX_LIMIT, 'The maximum number of entries.', 2, { default: DEFAULT_LIMIT }),
    (limit = DEFAULT_LIMIT) => limit,
  ),
  after: valid(idThat(isUuid), 'Returns entries older than the one with this id.', schema.uuid('')),
};

const EXPORT_LIMIT = number(
  MAX_EXPORTED,
  `The maximum number of entries: it must be a whole number from 1 to ${MAX_LIMIT} (by default ${DEFAULT_LIMIT}) in ` +
    `JSON. In ${EXPORT_TYPES.join(' and ')} it is at most, and by default, ${MAX_EXPORTED}.`,
  2,
);

/** Like {@link NEWEST_PAGE}, of a list that can also be exported. */
export const EXPORTABLE_PAGE = {
  ...NEWEST_PAGE,
  limit: {
    ...EXPORT_LIMIT,
    read: (query: QueryReader, name: string) =>
      exportTypeOf(query.request) === undefined
        ? NEWEST_PAGE.limit.read(query, name)
        : (EXPORT_LIMIT.read(query, name) ?? MAX_EXPORTED),
  },
};

/** A time range in which something was created. */
export const TIMES = {
  since: time(`Created at this time or later; ${TIME_RULE}.`),
  until: time(`Created before this time; ${TIME_RULE}.`),
};
