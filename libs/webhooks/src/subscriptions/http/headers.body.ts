import { fault, inside, isObject, type Part } from '#libs/http';
import type { FieldFault } from '#libs/kernel';
import { MASK } from '../domain/target-url.js';
import {
  HEADER_NAME,
  HEADER_VALUE,
  isHeaderName,
  isHeaderValue,
  isReservedHeader,
  MASKED_HEADER,
  MAX_HEADER_NAME,
  MAX_HEADER_VALUE,
  MAX_HEADERS,
} from '../domain/webhook-headers.js';

/** Headers in a request body. */
export const GivenHeaders: Part = {
  schema: {
    type: 'object',
    maxProperties: MAX_HEADERS,
    propertyNames: { pattern: HEADER_NAME },
    additionalProperties: { type: 'string', maxLength: MAX_HEADER_VALUE, pattern: HEADER_VALUE },
  },
  faultsOf: (given, at) => {
    if (!isObject(given)) return [fault(at, 'type', 'must be a JSON object')];
    const entries = Object.entries(given);
    if (entries.length > MAX_HEADERS) {
      return [fault(at, 'length', `must have at most ${MAX_HEADERS} members`)];
    }
    const spelled = entries.map(([name]) => name.toLowerCase());
    return entries.flatMap(([name, value], index) => {
      if (name.length > MAX_HEADER_NAME) return [fault(at, 'length', TOO_LONG)];
      const isRepeated = spelled.indexOf(name.toLowerCase()) < index;
      const field = inside(at, name);
      return [...nameFaults(field, name, isRepeated), ...valueFaults(field, value)];
    });
  },
};

/** The headers of a new subscription, which has no values that a mask could stand for. */
export const NewHeaders: Part = {
  schema: GivenHeaders.schema,
  faultsOf: (given, at) => {
    const faults = GivenHeaders.faultsOf(given, at);
    if (faults.length > 0 || !isObject(given)) return faults;
    const masked = Object.keys(given).filter((name) => given[name] === MASK);
    return masked.map((name) => fault(inside(at, name), 'format', MASKED_HEADER));
  },
};

/** Headers as they are shown. */
export const HeadersSchema = {
  type: 'object',
  description: 'Headers that are sent with every notification, with their values masked.',
  additionalProperties: { type: 'string' },
  examples: [{ 'X-Api-Key': MASK }],
};

/** Headers as they are shown, each masked. */
export function shownHeaders(headers: object): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
}

const TOO_LONG = `must have names of at most ${MAX_HEADER_NAME} characters`;

function nameFaults(field: string, name: string, isRepeated: boolean): FieldFault[] {
  if (!isHeaderName(name)) return [fault(field, 'format', 'must be the name of a header')];
  if (isReservedHeader(name)) return [fault(field, 'not_allowed', 'is not one that can be set')];
  return isRepeated ? [fault(field, 'conflict', 'must not be there in another spelling')] : [];
}

function valueFaults(field: string, value: unknown): FieldFault[] {
  if (typeof value !== 'string') return [fault(field, 'type', 'must be a string')];
  if (value.length === 0 || value.length > MAX_HEADER_VALUE) {
    return [fault(field, 'length', `must have 1 to ${MAX_HEADER_VALUE} characters`)];
  }
  if (isHeaderValue(value)) return [];
  return [fault(field, 'format', 'must be visible ASCII, with blanks only inside')];
}
