import { ID_RULE } from '#libs/http';
import { codePoints, type FieldFault, isStorable, numericIdOf, rawMember } from '#libs/kernel';
import type { Refusal, ReportedEvent } from '../domain/event.js';
import {
  EVENT_KINDS,
  isEventKind,
  isResource,
  RESOURCES,
} from '../../subscriptions/domain/event-kinds.js';
import {
  faultOf,
  IS_NO_STRING,
  MemberReader,
  oneOf,
  Problem,
  time,
} from '../../deliveries/http/members.js';

/** Limits of a reported event: characters of the producer's key, bytes of the text of `data`. */
export const MAX_PRODUCER_ID = 255;
export const MAX_DATA_BYTES = 128 << 10;

/**
 * Reads a producer's event. Uses no DTO, for speed: a batch may have a thousand events.
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
  const reader = new MemberReader(members, pointer);
  const event = {
    event: reader.required('event', eventKind),
    resource: reader.required('resource', resource),
    applicationId: reader.optional('applicationId', id),
    accountId: reader.optional('accountId', id),
    producerId: reader.optional('id', producerId),
    occurredAt: reader.optional('occurredAt', time),
    data: reader.required('data', (member) => dataText(member, text)),
  };
  if (reader.given('applicationId') === undefined && reader.given('accountId') === undefined) {
    reader.refuse('applicationId', new Problem('required', 'or accountId is required'));
  }
  const { faults } = reader;
  return faults.length > 0 ? { faults } : { event: event as ReportedEvent };
}

const eventKind = oneOf(EVENT_KINDS, isEventKind);
const resource = oneOf(RESOURCES, isResource);

function id(given: unknown): string | Problem {
  if (typeof given !== 'string' && typeof given !== 'number') {
    return new Problem('type', 'must be an integer or a string of digits');
  }
  return numericIdOf(given) ?? new Problem('format', ID_RULE);
}

function producerId(given: unknown): string | Problem {
  if (typeof given !== 'string') return IS_NO_STRING;
  if (given === '' || codePoints(given) > MAX_PRODUCER_ID) {
    return new Problem('length', `must have 1 to ${MAX_PRODUCER_ID} characters`);
  }
  if (isStorable(given)) return given;
  return new Problem('format', 'must not contain U+0000 or lone surrogates');
}

function dataText(given: unknown, text: string): string | Problem {
  if (typeof given !== 'object' || Array.isArray(given)) {
    return new Problem('type', 'must be a JSON object');
  }
  const raw = rawMember(text, 'data') ?? '';
  if (Buffer.byteLength(raw) <= MAX_DATA_BYTES) return raw;
  return new Problem('length', `must have at most ${MAX_DATA_BYTES} bytes of text`);
}

/** The fault of a refused event. */
export function refusalFault(refusal: Refusal, pointer = ''): FieldFault {
  const [name, problem] = REFUSALS[refusal];
  return faultOf(pointer, name, problem);
}

const REFUSALS: Record<Refusal, [name: string, problem: Problem]> = {
  unknown_application: ['applicationId', new Problem('unknown_reference', 'names no application')],
  unknown_account: ['accountId', new Problem('unknown_reference', 'names no account')],
  accounts_differ: ['accountId', new Problem('conflict', 'is not the account of the application')],
};
