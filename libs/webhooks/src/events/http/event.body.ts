import { bodySchemaOf, schema, unknownMembers } from '#libs/http';
import {
  anyObject,
  faultAt,
  Field,
  type FieldFault,
  fieldsOf,
  IdField,
  isEmptyArray,
  type JsonPart,
  type JsonReader,
  oneOf,
  parseTime,
  type Problem,
  readFields,
  storableText,
  stringIn,
  time,
  validatorOf,
} from '#libs/kernel';
import type { Refusal, ReportedEvent } from '../domain/event.js';
import { ACCOUNT_HEADER } from './named-account.js';
import { NOTICE_KINDS, REPORTED_KINDS, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import { EventKindSchema, ResourceSchema } from '../../event-kinds/choices.schema.js';

/** Limits of a reported event: characters of the producer's key, bytes of the text of `data`. */
const MAX_PRODUCER_ID = 255;
const MAX_DATA_BYTES = 128 << 10;
/** Most events in a batch. */
export const MAX_BATCH = 1_000;

const NOTICES_ARE_OURS = 'only the service reports notices about subscriptions';
const IS_BATCH: Problem = {
  code: 'not_allowed',
  says: 'is not a member of an event (POST /v1/events/batch takes several events)',
};

const isNotice = (kind: string): boolean => (NOTICE_KINDS as readonly string[]).includes(kind);
const REPORTED = oneOf(REPORTED_KINDS);

/** A kind that the platform reports. Kinds that only the service uses have a problem of their own. */
const KIND = validatorOf<string>(EventKindSchema, (given) =>
  typeof given === 'string' && isNotice(given) ? [IS_OURS] : REPORTED.check(given),
);
const IS_OURS: Problem = {
  code: 'not_allowed',
  says: `must not be ${NOTICE_KINDS.join(', ')}: ${NOTICES_ARE_OURS}`,
};

const OBJECT = anyObject({ additionalProperties: {} });
/** `data`, of which only the place in the body is known if it is an object. */
const DATA = validatorOf<JsonPart | []>(OBJECT.schema, (given) =>
  isEmptyArray(given) ? [] : OBJECT.check(given),
).and(
  'length',
  `must have at most ${MAX_DATA_BYTES} bytes of text`,
  (given) => isEmptyArray(given) || lengthOf(given as JsonPart) <= MAX_DATA_BYTES,
);
const lengthOf = ({ start, end }: JsonPart): number => end - start;

/** An event in a body. */
class ReportedEventDto {
  @Field(KIND, {
    required: true,
    about: `The event's kind. ${NOTICE_KINDS.join(', ')} are refused: ${NOTICES_ARE_OURS}.`,
    example: 'cdrCreated',
  })
  event!: ReportedEvent['event'];

  @Field(oneOf(RESOURCES, ResourceSchema), {
    required: true,
    about: 'What the event is about.',
    example: 'call',
  })
  resource!: ReportedEvent['resource'];

  @IdField({
    requiredUnless: 'accountId',
    about: "The id of the event's application, even if that was deleted.",
    example: '5080983',
  })
  applicationId?: string;

  @IdField({
    about:
      "The id of the event's account. With `applicationId`, it must be the account of that application.",
    example: '83346',
  })
  accountId?: string;

  @Field(storableText(MAX_PRODUCER_ID), {
    name: 'id',
    about:
      "The producer's key for the event, unique per account and `event`: a repeat delivers nothing.",
    example: 'cdr-8c1f3a',
  })
  producerId?: string;

  @Field(time(), {
    read: parseTime,
    about: 'When the event happened; by default, the time of acceptance.',
    example: '2026-01-31T12:00:00.000Z',
  })
  occurredAt?: Date;

  @Field(DATA, {
    required: true,
    about: "The event's data, which notifications contain byte for byte as it was sent.",
    example: { callId: '8c1f3a', duration: 33258 },
  })
  data!: JsonPart | [];
}

/** The body of `POST /v1/events`. */
export const ReportedEventSchema = bodySchemaOf(ReportedEventDto, true);

/** The body of `POST /v1/events/batch`. */
export const EventBatchSchema = schema.named('EventBatch', {
  type: 'object',
  properties: {
    events: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH,
      description: 'The events. Each has its own result: an invalid one does not stop the others.',
      items: ReportedEventSchema,
    },
  },
  required: ['events'],
});

/** An event in a body: where its members are, if it is an object, and how many levels it has. */
export interface GivenEvent {
  parts?: ReadonlyMap<string, JsonPart>;
  levels: number;
}

/** A producer's event, or what is wrong with it. */
export type ReadEvent = { event: ReportedEvent } | { faults: FieldFault[] };

/** No valid member is longer, but for `data`. In bytes. */
const MAX_MEMBER_BYTES = 64 << 10;
/** The members that matter: `events` belongs into a batch. */
const KNOWN = new Set([...fieldsOf(ReportedEventDto).map(({ name }) => name), 'events']);

/** Finds the members of the next event of a body. */
export function* givenEvent(json: JsonReader): Generator<void, GivenEvent> {
  return (yield* json.isObject()) ? yield* json.members(KNOWN) : { levels: yield* json.value() };
}

/** Reads a body that is an event. @param isStrict whether unknown members are faults */
export function* singleEvent(json: JsonReader, isStrict: boolean): Generator<void, ReadEvent> {
  return readEvent(yield* givenEvent(json), json, '', isStrict);
}

const EMPTY_ARRAY = /^\[[\t\n\r ]*\]$/;

/** A value, as far as it matters: the place of an object, which only `data` may be, and whether an array is empty. */
export function givenMember(part: JsonPart, json: JsonReader): unknown {
  if (json.opensObject(part)) return part;
  const { start, end } = part;
  const text = json.textOf({ start, end: Math.min(end, start + MAX_MEMBER_BYTES) });
  if (text.startsWith('[')) return EMPTY_ARRAY.test(text) ? [] : [null];
  const isWhole = lengthOf(part) <= MAX_MEMBER_BYTES;
  if (text.startsWith('"')) return isWhole ? stringIn(text) : text;
  return isWhole ? JSON.parse(text) : Infinity;
}

/**
 * Checks a producer's event.
 * @param json the body
 * @param pointer where the event is in the body: empty, or `/events/<index>`
 * @param isStrict whether unknown members are faults
 */
export function readEvent(
  { parts }: Pick<GivenEvent, 'parts'>,
  json: JsonReader,
  pointer = '',
  isStrict = false,
): ReadEvent {
  if (!parts) {
    const message = `The event${pointer && ` ${pointer}`} must be a JSON object.`;
    return { faults: [{ field: pointer, code: 'type', message }] };
  }
  const givenAs = (name: string): unknown => {
    const part = parts.get(name);
    return part && givenMember(part, json);
  };
  if (!parts.has('event') && Array.isArray(givenAs('events'))) {
    return { faults: [faultOf(pointer, 'events', IS_BATCH)] };
  }
  const { value, problems } = readFields(ReportedEventDto, givenAs);
  const faults = problems.map(([name, problem]) => faultOf(pointer, name, problem));
  if (isStrict) {
    faults.push(...unknownMembers(Object.fromEntries(parts), ReportedEventSchema, pointer));
  }
  if (faults.length > 0) return { faults };
  // Kept as text, so not parsed.
  const data = isEmptyArray(value.data) ? '{}' : json.textOf(value.data as JsonPart);
  return { event: Object.assign(value, { data }) };
}

const REFUSALS: Record<Refusal, [name: string, problem: Problem]> = {
  unknown_application: [
    'applicationId',
    { code: 'unknown_reference', says: 'names no application' },
  ],
  unknown_account: ['accountId', { code: 'unknown_reference', says: 'names no account' }],
  accounts_differ: [
    'accountId',
    { code: 'conflict', says: 'is not the account of the application' },
  ],
};

const NEEDS_HEADER = ` (one in another group needs the header ${ACCOUNT_HEADER})`;

/** The fault of a refused event. @param isNamed whether its account is the one that its request names */
export function refusalFault(refusal: Refusal, pointer = '', isNamed = false): FieldFault {
  const [name, problem] = REFUSALS[refusal];
  if (isNamed && name === 'accountId') return faultAt(ACCOUNT_HEADER, problem);
  // A router sends requests without the header to the first group.
  const hint = !isNamed && problem.code === 'unknown_reference' ? NEEDS_HEADER : '';
  return faultOf(pointer, name, { ...problem, says: `${problem.says}${hint}` });
}

function faultOf(pointer: string, name: string, problem: Problem): FieldFault {
  return faultAt(pointer === '' ? name : `${pointer}/${name}`, problem);
}
