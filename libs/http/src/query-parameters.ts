import {
  CURSOR_RULE,
  isNumericId,
  isStorable,
  isUuid,
  oneOf,
  parseTime,
  string,
  TIME_RULE,
  type Validator,
} from '#libs/kernel';
import { EXPORT_TYPES, MAX_EXPORTED } from './export-formats.js';
import * as schema from './openapi/schema.js';
import type { QueryParameter } from './query.js';

/** The largest and the default number of rows in a page. */
const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

const STORABLE = string().and('format', 'must not contain U+0000 or lone surrogates', isStorable);
const idThat = (isId: (text: string) => boolean) => string().and('format', 'must be an id', isId);
const NUMERIC_ID = idThat(isNumericId);

/** In a query, + stands for a blank, and many clients do not escape the one before an offset. */
const timeIn = (text: string) => parseTime(text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
const TIME = string().and('format', TIME_RULE, (text) => timeIn(text) !== undefined);

/** A whole number from 1. */
const upTo = (max: number) =>
  string().and(
    'range',
    `must be a whole number from 1 to ${max}`,
    (text) => /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= max,
  );

/** A text that no row has, because every text that filters compare is shorter. */
const UNKNOWN = '?'.repeat(256);

/** In the description of a text that may be a telephone number. */
export const PLUS_AT_START =
  'Encode `+` as `%2B`: an unencoded `+` means a space, except at the start before a digit.';

type Maybe<Value> = QueryParameter<Value | undefined>;

/** A text that must be valid. @param described its schema in the API's description */
export function valid<Value extends string>(
  validator: Validator<Value>,
  about: string,
  described: schema.Schema,
): Maybe<Value> {
  return { about, schema: described, validator };
}

/** One of a few texts. */
export function choice<Value extends string>(
  about: string,
  choices: readonly Value[],
  example = choices[0],
): Maybe<Value> {
  return valid(oneOf(choices), about, schema.choice('', choices, example));
}

/** A text to search for. An invalid text is accepted, because old rows may contain it. */
export function filter(
  validator: Validator<string>,
  about: string,
  example: string,
): Maybe<string> {
  const invalid = (sent: string) => (isStorable(sent) ? sent : UNKNOWN);
  return { ...valid(validator, about, schema.text('', example)), invalid };
}

/** A text that stored ones are compared with. */
export function text(about: string, example: string): Maybe<string> {
  return filter(STORABLE, about, example);
}

/** An id to look for. One that is not valid finds nothing, like the id 0. */
export function numericId(about: string, example: string): Maybe<string> {
  return { ...filter(NUMERIC_ID, about, example), invalid: () => '0' };
}

export function flag(about: string): Maybe<boolean> {
  const described = { about, schema: schema.flag('', true) };
  return { ...described, validator: oneOf(['true', 'false']), read: (text) => text === 'true' };
}

export function time(about: string, example?: string): Maybe<Date> {
  return { about, schema: schema.time('', example), validator: TIME, read: timeIn };
}

/** A whole number from 1. @param more of its schema */
export function number(
  max: number,
  about: string,
  example: number,
  more: schema.Schema = {},
): Maybe<number> {
  const range = { type: 'integer', minimum: 1, maximum: max, examples: [example], ...more };
  return { about, schema: range, validator: upTo(max), read: Number };
}

/** Of a list that is returned whole if no limit is given. */
export const OPTIONAL_PAGE = {
  limit: number(MAX_LIMIT, 'The maximum number of entries to return; by default, all.', 2),
  after: valid(
    NUMERIC_ID,
    'Returns the entries with higher ids than this one; must be an id, up to 2^63-1.',
    schema.numericId('', '5080983'),
  ),
};

/** Of a list that is always paged, with the newest entry first. */
export const NEWEST_PAGE = {
  limit: {
    ...number(MAX_LIMIT, 'The maximum number of entries to return.', 2, { default: DEFAULT_LIMIT }),
    default: DEFAULT_LIMIT,
  } as QueryParameter<number>,
  after: valid(
    idThat(isUuid),
    'Returns the entries older than the one with this id.',
    schema.uuid(''),
  ),
};

/** Like {@link NEWEST_PAGE}, of a list that can also be exported. */
export const EXPORTABLE_PAGE = {
  ...NEWEST_PAGE,
  limit: {
    ...number(
      MAX_EXPORTED,
      `The maximum number of entries: it must be a whole number from 1 to ${MAX_LIMIT} (by default ${DEFAULT_LIMIT}) in ` +
        `JSON. In ${EXPORT_TYPES.join(' and ')} it is at most, and by default, ${MAX_EXPORTED}.`,
      2,
    ),
    validator: upTo(MAX_LIMIT),
    default: DEFAULT_LIMIT,
    exported: { validator: upTo(MAX_EXPORTED), default: MAX_EXPORTED },
  } as QueryParameter<number>,
};

/** Of a list that is followed from a cursor on. */
export const FEED_PAGE = {
  ...NEWEST_PAGE,
  after: valid(
    string().and('format', CURSOR_RULE, isUuid),
    `Returns the events after this cursor. It ${CURSOR_RULE} of the last answer, or the id of an event, and at most a day ahead.`,
    schema.uuid(''),
  ),
};

/** A time range in which something was created. */
export const TIMES = {
  since: time(`Only entries created at this time or later. It ${TIME_RULE}.`),
  until: time(`Only entries created before this time. It ${TIME_RULE}.`),
};
