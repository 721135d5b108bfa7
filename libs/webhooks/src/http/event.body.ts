import { parseTime } from '#libs/kernel/http';
import {
  codePoints,
  type FieldCode,
  type FieldFault,
  isStorable,
  numericIdOf,
  rawMember,
} from '#libs/kernel';
import type { Refusal, ReportedEvent } from '../domain/event.js';
import { EVENT_KINDS, isEventKind, isResource, RESOURCES } from '../domain/event-kinds.js';

/** Limits of a reported event: characters of its producer's key, bytes of the text of `data`. */
export const MAX_PRODUCER_ID = 255;
export const MAX_DATA_BYTES = 128 << 10;

/** Why a member is refused: its code, and what the member "must …". */
class Problem {
  constructor(
    readonly code: FieldCode,
    readonly says: string,
  ) {}
}

/** Reads the value of a member, or says what is wrong with it. */
type Rule<Value> = (given: unknown) => Value | Problem;

/**
 * Reads an event of a producer. By hand, not by a DTO: batches hold a thousand of them.
 * @param text the JSON text of `value`, of which `data` is kept as it was written
 * @param pointer where the event is in the body: empty, or `/events/<index>`
 */
export function readEvent(
  value: unknown,
  text: string,
  pointer = '',
): { event: ReportedEvent } | { faults: FieldFault[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = `The event${pointer && ` ${pointer}`} must be a JSON object.`;
    return { faults: [{ field: pointer, code: 'type', message }] };
  }
  const members = value as Record<string, unknown>;
  const faults: FieldFault[] = [];
  // null means "not given"; so does what only the prototype of the body answers to.
  const given = (name: string): unknown =>
    Object.hasOwn(members, name) ? (members[name] ?? undefined) : undefined;
  const optional = <Value>(name: string, rule: Rule<Value>): Value | undefined => {
    const member = given(name);
    const read = member === undefined ? undefined : rule(member);
    if (!(read instanceof Problem)) return read;
    faults.push(faultOf(pointer, name, read));
    return undefined;
  };
  const required = <Value>(name: string, rule: Rule<Value>): Value | undefined => {
    if (given(name) === undefined) faults.push(faultOf(pointer, name, IS_REQUIRED));
    return optional(name, rule);
  };
  const event = {
    event: required('event', oneOf(EVENT_KINDS, isEventKind)),
    resource: required('resource', oneOf(RESOURCES, isResource)),
    applicationId: optional('applicationId', id),
    accountId: optional('accountId', id),
    producerId: optional('id', producerId),
    occurredAt: optional('occurredAt', time),
    data: required('data', (member) => dataText(member, text)),
  };
  if (given('applicationId') === undefined && given('accountId') === undefined) {
    faults.push(
      faultOf(pointer, 'applicationId', new Problem('required', 'or accountId is required')),
    );
  }
  return faults.length > 0 ? { faults } : { event: withoutUndefined(event) as ReportedEvent };
}

const IS_REQUIRED = new Problem('required', 'is required');
const IS_NO_STRING = new Problem('type', 'must be a string');

function oneOf<Choice extends string>(
  choices: readonly Choice[],
  isChoice: (text: string) => text is Choice,
): Rule<Choice> {
  const isNone = new Problem('choice', `must be one of ${choices.join(', ')}`);
  return (given) => {
    if (typeof given !== 'string') return IS_NO_STRING;
    return isChoice(given) ? given : isNone;
  };
}

function id(given: unknown): string | Problem {
  if (typeof given !== 'string' && typeof given !== 'number') {
    return new Problem('type', 'must be an integer or a string of digits');
  }
  return numericIdOf(given) ?? new Problem('format', 'must be an id: an integer or its digits');
}

function producerId(given: unknown): string | Problem {
  if (typeof given !== 'string') return IS_NO_STRING;
  if (given === '' || codePoints(given) > MAX_PRODUCER_ID) {
    return new Problem('length', `must have 1 to ${MAX_PRODUCER_ID} characters`);
  }
  if (isStorable(given)) return given;
  return new Problem('format', 'must not contain U+0000 or lone surrogates');
}

function time(given: unknown): Date | Problem {
  if (typeof given !== 'string') return IS_NO_STRING;
  const problem = new Problem('format', 'must be a time such as 2026-01-31T12:00:00Z (RFC 3339)');
  return parseTime(given) ?? problem;
}

function dataText(given: unknown, text: string): string | Problem {
  if (typeof given !== 'object' || Array.isArray(given)) {
    return new Problem('type', 'must be a JSON object');
  }
  const raw = rawMember(text, 'data') ?? '';
  if (Buffer.byteLength(raw) <= MAX_DATA_BYTES) return raw;
  return new Problem('length', `must have at most ${MAX_DATA_BYTES} bytes of text`);
}

function faultOf(pointer: string, name: string, { code, says }: Problem): FieldFault {
  const field = pointer === '' ? name : `${pointer}/${name}`;
  return { field, code, message: `${field} ${says}.` };
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** What is wrong with an event that names what does not exist. */
export function refusalFault(refusal: Refusal, pointer = ''): FieldFault {
  const [name, problem] = REFUSALS[refusal];
  return faultOf(pointer, name, problem);
}

const REFUSALS: Record<Refusal, [name: string, problem: Problem]> = {
  unknown_application: ['applicationId', new Problem('unknown_reference', 'names no application')],
  unknown_account: ['accountId', new Problem('unknown_reference', 'names no account')],
  accounts_differ: ['accountId', new Problem('conflict', 'is not the account of the application')],
};
