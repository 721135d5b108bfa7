import {
  fault,
  ID_RULE,
  ID_SCHEMA,
  INTEGER_TOO,
  isObject,
  parseTime,
  schema,
  TIME_RULE,
  unknownMembers,
} from '#libs/http';
import {
  codePoints,
  type FieldCode,
  type FieldFault,
  isStorable,
  numericIdOf,
  rawMember,
} from '#libs/kernel';
import type { Refusal, ReportedEvent } from '../domain/event.js';
import { NOTICE_KINDS, REPORTED_KINDS, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import { eventKind, resource } from '../../event-kinds/http/choices.schema.js';

/** Limits of a reported event: characters of the producer's key, bytes of the text of `data`. */
const MAX_PRODUCER_ID = 255;
const MAX_DATA_BYTES = 128 << 10;
/** Most events in a batch. */
export const MAX_BATCH = 1_000;

/** Why a member is refused: a code, and text that begins with "must" or similar. */
class Problem {
  constructor(
    readonly code: FieldCode,
    readonly says: string,
  ) {}
}

const NOTICES_ARE_OURS = 'only the service reports notices about subscriptions';
const IS_REQUIRED = new Problem('required', 'is required');
const IS_BATCH = new Problem(
  'not_allowed',
  'is not a member of an event (POST /v1/events/batch takes several events)',
);
const IS_NO_STRING = new Problem('type', 'must be a string');

/** A member of an event. */
interface Member {
  schema: schema.Schema;
  /** Returns its value. @param text the JSON text of the event */
  read: (given: unknown, text: string) => unknown;
  isRequired?: true;
}

/** @param ours values that the schema lists, but that only the service itself may use */
function oneOf(
  choices: readonly string[],
  of: schema.Schema,
  ours: readonly string[] = [],
): Member {
  const isNone = new Problem('choice', `must be one of ${choices.join(', ')}`);
  const isOurs = new Problem('not_allowed', `must not be ${ours.join(', ')}: ${NOTICES_ARE_OURS}`);
  return {
    schema: of,
    read: (given) => {
      if (typeof given !== 'string') return IS_NO_STRING;
      if (choices.includes(given)) return given;
      return ours.includes(given) ? isOurs : isNone;
    },
    isRequired: true,
  };
}

/** An id: an integer or a string of digits. */
function id(about: string, example: string): Member {
  return {
    schema: {
      ...ID_SCHEMA,
      description: `${about} It ${ID_RULE}. ${INTEGER_TOO}`,
      examples: [example],
    },
    read: (given) =>
      typeof given === 'string' || typeof given === 'number'
        ? (numericIdOf(given) ?? new Problem('format', ID_RULE))
        : new Problem('type', 'must be an integer or a string of digits'),
  };
}

const MEMBERS = {
  event: oneOf(
    REPORTED_KINDS,
    eventKind(
      `The kind of the event. ${NOTICE_KINDS.join(', ')} are refused: ${NOTICES_ARE_OURS}.`,
    ),
    NOTICE_KINDS,
  ),
  resource: oneOf(RESOURCES, resource('What it is about.')),
  applicationId: id(
    'The application that it happened to, also after its deletion. Either this or `accountId` is required.',
    '5080983',
  ),
  accountId: id(
    'The account. If `applicationId` is given too, it must be the account of that application.',
    '83346',
  ),
  id: {
    schema: schema.text(
      "The producer's key, unique per account and `event`: a repeat delivers nothing. It must not " +
        'contain U+0000 or lone surrogates.',
      'cdr-8c1f3a',
      { minLength: 1, maxLength: MAX_PRODUCER_ID, pattern: '^[^\\u0000]*$' },
    ),
    read: producerId,
  },
  occurredAt: {
    schema: schema.time(`When it happened; else the time of acceptance. It ${TIME_RULE}.`),
    read: (given) => {
      if (typeof given !== 'string') return IS_NO_STRING;
      return parseTime(given) ?? new Problem('format', TIME_RULE);
    },
  },
  data: {
    schema: schema.anyObject(
      'What happened; delivered byte for byte as it was sent. ' +
        `It must have at most ${MAX_DATA_BYTES} bytes of text.`,
      { callId: '8c1f3a', duration: 33258 },
    ),
    read: dataText,
    isRequired: true,
  },
} satisfies Record<string, Member>;

const entries = Object.entries<Member>(MEMBERS);

/** An event in a body, for {@link readEvent}. */
export const ReportedEventSchema = schema.named('ReportedEvent', {
  type: 'object',
  description: schema.NULL_IS_ABSENT,
  properties: {
    id: schema.nullable(MEMBERS.id.schema),
    ...Object.fromEntries(
      entries.map(([name, member]) => [
        name,
        member.isRequired ? member.schema : schema.nullable(member.schema),
      ]),
    ),
  },
  required: entries.flatMap(([name, { isRequired }]) => (isRequired ? [name] : [])),
});

/** The body of `POST /v1/events/batch`. */
export const EventBatchSchema = schema.named('EventBatch', {
  type: 'object',
  properties: {
    events: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH,
      description: 'Each is judged on its own: a faulty one, too, stops no other.',
      items: ReportedEventSchema,
    },
  },
  required: ['events'],
});

/**
 * Reads a producer's event. Uses no DTO, because a batch may have a thousand events, and `data` is kept as
 * text. Treats null as absent.
 * @param text the JSON text of `value`, of which `data` is kept as it was written
 * @param pointer where the event is in the body: empty, or `/events/<index>`
 * @param isStrict whether unknown members are faults
 */
export function readEvent(
  value: unknown,
  text: string,
  pointer = '',
  isStrict = false,
): { event: ReportedEvent } | { faults: FieldFault[] } {
  if (!isObject(value)) {
    const message = `The event${pointer && ` ${pointer}`} must be a JSON object.`;
    return { faults: [{ field: pointer, code: 'type', message }] };
  }
  if (Array.isArray(value['events']) && value['event'] === undefined) {
    return { faults: [faultOf(pointer, 'events', IS_BATCH)] };
  }
  const event: Record<string, unknown> = {};
  const faults: FieldFault[] = [];
  for (const [name, { read, isRequired }] of entries) {
    const given = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    if (given === undefined && !isRequired) continue;
    const member = given === undefined ? IS_REQUIRED : read(given, text);
    if (member instanceof Problem) faults.push(faultOf(pointer, name, member));
    else event[name === 'id' ? 'producerId' : name] = member;
  }
  if ((value['applicationId'] ?? value['accountId'] ?? undefined) === undefined) {
    faults.push(
      faultOf(pointer, 'applicationId', new Problem('required', 'or accountId is required')),
    );
  }
  if (isStrict) faults.push(...unknownMembers(value, ReportedEventSchema, pointer));
  return faults.length > 0 ? { faults } : { event: event as unknown as ReportedEvent };
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
  if (!isObject(given)) return new Problem('type', 'must be a JSON object');
  const raw = rawMember(text, 'data') ?? '';
  if (Buffer.byteLength(raw) <= MAX_DATA_BYTES) return raw;
  return new Problem('length', `must have at most ${MAX_DATA_BYTES} bytes of text`);
}

const REFUSALS: Record<Refusal, [name: string, problem: Problem]> = {
  unknown_application: ['applicationId', new Problem('unknown_reference', 'names no application')],
  unknown_account: ['accountId', new Problem('unknown_reference', 'names no account')],
  accounts_differ: ['accountId', new Problem('conflict', 'is not the account of the application')],
};

/** The fault of a refused event. */
export function refusalFault(refusal: Refusal, pointer = ''): FieldFault {
  const [name, problem] = REFUSALS[refusal];
  return faultOf(pointer, name, problem);
}

function faultOf(pointer: string, name: string, { code, says }: Problem): FieldFault {
  return fault(pointer === '' ? name : `${pointer}/${name}`, code, says);
}
