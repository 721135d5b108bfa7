import type { ReadObject } from '#libs/http';
import type { FieldFault } from '#libs/kernel';
import { MASK } from '../domain/target-url.js';
import {
  HEADER_NAME,
  HEADER_VALUE,
  headerField,
  isHeaderName,
  isHeaderValue,
  isReservedHeader,
  MASKED_HEADER,
  MAX_HEADER_NAME,
  MAX_HEADER_VALUE,
  MAX_HEADERS,
} from '../domain/webhook-headers.js';

/** Headers in a request body, for {@link readHeaders}. */
export const GivenHeaders = {
  type: 'object',
  maxProperties: MAX_HEADERS,
  propertyNames: { pattern: HEADER_NAME },
  additionalProperties: { type: 'string', maxLength: MAX_HEADER_VALUE, pattern: HEADER_VALUE },
};

/** Headers as they are shown. */
export const HeadersSchema = {
  type: 'object',
  description: 'Headers that are sent with every notification, with their values masked.',
  additionalProperties: { type: 'string', const: MASK },
  examples: [{ 'X-Api-Key': MASK }],
};

/** Headers as they are shown, each masked. */
export function shownHeaders(headers: object): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
}

/** Reads the member `headers`, which is an object. */
export function readHeaders(given: Record<string, unknown>): ReadObject {
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) {
    return { faults: [faultOf('headers', 'length', `must have at most ${MAX_HEADERS} members`)] };
  }
  const faults = entries.flatMap(([name, value], index) => {
    if (name.length > MAX_HEADER_NAME) return [faultOf('headers', 'length', TOO_LONG)];
    const repeated = entries
      .slice(0, index)
      .some(([other]) => other.toLowerCase() === name.toLowerCase());
    return [...nameFaults(name, repeated), ...valueFaults(name, value)];
  });
  return faults.length > 0 ? { faults } : { value: given };
}

/** Like {@link readHeaders}, but refuses masks: a new subscription has no values to keep. */
export function readNewHeaders(given: Record<string, unknown>): ReadObject {
  const read = readHeaders(given);
  if ('faults' in read) return read;
  const masked = Object.keys(given).filter((name) => given[name] === MASK);
  const faults = masked.map((name) => faultOf(headerField(name), 'format', MASKED_HEADER));
  return faults.length > 0 ? { faults } : read;
}

const TOO_LONG = `must have names of at most ${MAX_HEADER_NAME} characters`;

function nameFaults(name: string, repeated: boolean): FieldFault[] {
  const field = headerField(name);
  if (!isHeaderName(name)) return [faultOf(field, 'format', 'must be the name of a header')];
  if (isReservedHeader(name)) return [faultOf(field, 'not_allowed', 'is not one that can be set')];
  return repeated ? [faultOf(field, 'conflict', 'must not be there in another spelling')] : [];
}

function valueFaults(name: string, value: unknown): FieldFault[] {
  const field = headerField(name);
  if (typeof value !== 'string') return [faultOf(field, 'type', 'must be a string')];
  if (value.length === 0 || value.length > MAX_HEADER_VALUE) {
    return [faultOf(field, 'length', `must have 1 to ${MAX_HEADER_VALUE} characters`)];
  }
  if (isHeaderValue(value)) return [];
  return [faultOf(field, 'format', 'must be visible ASCII, with blanks only inside')];
}

function faultOf(field: string, code: FieldFault['code'], says: string): FieldFault {
  return { field, code, message: `${field} ${says}.` };
}
