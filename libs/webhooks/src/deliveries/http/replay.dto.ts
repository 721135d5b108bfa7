import { Check, Field, Is, IsFlag, IsTime, listOf, oneOf, parseTime, TIME_RULE } from '#libs/http';
import { REPLAYABLE_STATES, type ReplayableState, type ReplayRange } from '../domain/replay.js';
import { ReplayableStateSchema } from './replay.view.js';

const BY_DEFAULT: readonly ReplayableState[] = ['exhausted', 'cancelled'];

/** Undefined for what is not a time. */
const timeOf = (value: unknown) => (typeof value === 'string' ? parseTime(value) : undefined);

function isBefore(time: Date | undefined, other: Date | undefined): boolean {
  return !time || !other || time < other;
}

/** `POST /v1/webhooks/:id/replay` */
export class ReplayRequestDto {
  @Field({
    required: true,
    about: `Those that were made at or after that. It must be in the past, and ${TIME_RULE}.`,
    example: '2026-01-31T12:00:00.000Z',
  })
  @IsTime()
  @Check('range', 'must be in the past', (value) => isBefore(timeOf(value), new Date()))
  since!: string;

  @Field({
    about: `Those that were made before that; by default now. It must be later than since, and ${TIME_RULE}.`,
    example: '2026-01-31T12:00:00.000Z',
  })
  @IsTime()
  @Check('range', 'must be later than since', (value, { dto }) =>
    isBefore(timeOf(dto['since']), timeOf(value)),
  )
  until?: string;

  @Field({
    about: 'Those in one of these states.',
    default: BY_DEFAULT,
    example: ['exhausted'],
  })
  @Is(
    listOf(oneOf(REPLAYABLE_STATES, ReplayableStateSchema), {
      min: 1,
      max: REPLAYABLE_STATES.length,
    }),
  )
  states?: ReplayableState[];

  @Field({ about: 'Only counts them.', default: false, example: false })
  @IsFlag()
  dryRun?: boolean;

  range(): ReplayRange {
    const until = timeOf(this.until);
    return {
      since: parseTime(this.since)!,
      ...(until && { until }),
      states: [...new Set(this.states ?? BY_DEFAULT)],
    };
  }
}
