import { schema, TIME_RULE } from '#libs/http';
import { ValidationError } from '#libs/kernel';
import { REPLAYABLE_STATES, type ReplayableState, type ReplayRange } from '../domain/replay.js';
import { MemberReader, oneOf, Problem, time } from './members.js';

const BY_DEFAULT: readonly ReplayableState[] = ['exhausted', 'cancelled'];

/** The input of {@link readReplay}. A test compares the two. */
export const ReplayRequestSchema = schema.named('ReplayRequest', {
  type: 'object',
  properties: {
    since: schema.time(
      `Those that were made at or after that. It must be in the past, and ${TIME_RULE}.`,
    ),
    until: schema.time(
      `Those that were made before that; by default now. It must be later than since, and ${TIME_RULE}.`,
    ),
    states: {
      type: 'array',
      minItems: 1,
      maxItems: REPLAYABLE_STATES.length,
      items: { type: 'string', enum: REPLAYABLE_STATES },
      description: 'Those in one of these states.',
      default: BY_DEFAULT,
      examples: [['exhausted']],
    },
    dryRun: {
      ...schema.flag('Only counts them.', false),
      default: false,
    },
  },
  required: ['since'],
});

/** Reads the body of `POST /v1/webhooks/:id/replay`. @throws ValidationError with all faults */
export function readReplay(
  body: Record<string, unknown>,
  now: Date,
): { range: ReplayRange; dryRun: boolean } {
  const reader = new MemberReader(body);
  const since = reader.required('since', time);
  const until = reader.optional('until', time);
  const states = readStates(reader);
  const dryRun = reader.optional('dryRun', flag) ?? false;
  if (since && since >= now) reader.refuse('since', new Problem('range', 'must be in the past'));
  if (since && until && until <= since) {
    reader.refuse('until', new Problem('range', 'must be later than since'));
  }
  if (!since || reader.faults.length > 0) throw new ValidationError(reader.faults);
  return { range: { since, ...(until && { until }), states }, dryRun };
}

function readStates(reader: MemberReader): readonly ReplayableState[] {
  const given = reader.optional('states', list);
  if (!given) return BY_DEFAULT;
  const states = given.flatMap((element, index) => {
    const state = aState(element);
    if (!(state instanceof Problem)) return [state];
    reader.refuse(`/states/${index}`, state);
    return [];
  });
  return [...new Set(states)];
}

function list(given: unknown): readonly unknown[] | Problem {
  if (!Array.isArray(given)) return new Problem('type', 'must be an array');
  const elements: readonly unknown[] = given;
  if (elements.length > 0 && elements.length <= REPLAYABLE_STATES.length) return elements;
  return new Problem('length', `must have 1 to ${REPLAYABLE_STATES.length} elements`);
}

const aState = oneOf(REPLAYABLE_STATES, (text): text is ReplayableState =>
  REPLAYABLE_STATES.some((state) => state === text),
);

function flag(given: unknown): boolean | Problem {
  return typeof given === 'boolean' ? given : new Problem('type', 'must be true or false');
}
