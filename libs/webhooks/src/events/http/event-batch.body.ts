import { MAX_DEPTH, unknownMembers } from '#libs/http';
import { type FieldFault, type JsonPart, type JsonReader, ValidationError } from '#libs/kernel';
import {
  EventBatchSchema,
  type GivenEvent,
  givenEvent,
  givenMember,
  MAX_BATCH,
  readEvent,
  type ReadEvent,
} from './event.body.js';

/** The body of a batch: where its members are, and its events if they are an array. */
interface GivenBatch {
  parts: ReadonlyMap<string, JsonPart>;
  events: unknown;
}

/** The members that matter: `event` belongs into a single event. */
const KNOWN = new Set(['events', 'event']);

/** Reads the body of a batch, for {@link eventsIn}. @param isStrict whether unknown members are faults */
export function* givenBatch(json: JsonReader, isStrict: boolean): Generator<void, GivenBatch> {
  const read: { events?: ReadEvent[] } = {};
  const { parts } = yield* json.members(KNOWN, (name) => {
    return name === 'events' ? readEvents(json, isStrict, read) : undefined;
  });
  const part = parts.get('events');
  return { parts, events: read.events ?? (part && givenMember(part, json)) };
}

/** Reads the next value, and keeps its events if it is an array. */
function* readEvents(
  json: JsonReader,
  isStrict: boolean,
  read: { events?: ReadEvent[] },
): Generator<void> {
  delete read.events;
  if (!(yield* json.isArray())) {
    yield* json.value();
    return;
  }
  const events: ReadEvent[] = [];
  json.beginArray();
  for (let count = 0; yield* json.hasElement(count); count += 1) {
    // One more than a batch may have is enough to refuse it.
    if (count > MAX_BATCH) yield* json.value();
    else events.push(readEach(yield* givenEvent(json), json, `/events/${count}`, isStrict));
    yield;
  }
  read.events = events;
}

function readEach(given: GivenEvent, json: JsonReader, pointer: string, isStrict: boolean) {
  return given.levels > MAX_DEPTH
    ? { faults: [tooDeepFault(pointer)] }
    : readEvent(given, json, pointer, isStrict);
}

function tooDeepFault(field: string): FieldFault {
  const message = `The event ${field} must have at most ${MAX_DEPTH} levels.`;
  return { field, code: 'length', message };
}

/** The events of a batch; a faulty one has its faults. @throws ValidationError if the body is not a batch */
export function eventsIn({ parts, events }: GivenBatch, isStrict: boolean): ReadEvent[] {
  const unknown = isStrict ? unknownMembers(Object.fromEntries(parts), EventBatchSchema) : [];
  if (unknown.length > 0) throw new ValidationError(unknown);
  if (events === undefined || events === null) {
    const hint = !parts.has('event') ? '' : ' (POST /v1/events takes a single event)';
    throw ValidationError.of('events', 'required', `events is required${hint}.`);
  }
  if (!Array.isArray(events))
    throw ValidationError.of('events', 'type', 'events must be an array.');
  if (events.length < 1 || events.length > MAX_BATCH) {
    const message = `events must have 1 to ${String(MAX_BATCH)} elements.`;
    throw ValidationError.of('events', 'length', message);
  }
  return events as ReadEvent[];
}
