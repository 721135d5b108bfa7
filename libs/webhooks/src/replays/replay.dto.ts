import { applyDecorators } from '@nestjs/common';
import { Field, given, Is } from '#libs/http';
import {
  flag,
  listOf,
  numericId,
  numericIdOf,
  oneOf,
  parseTime,
  time,
  TIME_RULE,
  type Validator,
} from '#libs/kernel';
import {
  REPLAYABLE_STATES,
  type ReplayableState,
  type ReplayFilter,
  SENDABLE_STATES,
  type SendableState,
} from './domain/replay.js';
import { EVENT_KINDS, type EventKind } from '../event-kinds/domain/event-kinds.js';
import { EventKindSchema } from '../event-kinds/choices.schema.js';
import { RESULT } from '../deliveries/last-result.js';
import { ReplayableStateSchema, SendableStateSchema } from './http/replay.view.js';

const BY_DEFAULT: readonly ReplayableState[] = ['exhausted', 'cancelled'];

const DRY_RUN = { about: 'Only counts, and sends nothing.', default: false, example: false };

/** Without words for a validator whose schema says it all. */
const wordless = (validator: Validator): Validator => ({ ...validator, wording: [] });

/** Undefined for what is not a time. */
const timeOf = (value: unknown) => (typeof value === 'string' ? parseTime(value) : undefined);

function isBefore(time: Date | undefined, other: Date | undefined): boolean {
  return !time || !other || time < other;
}

/** Where a time range begins that something is done for. */
export const IsSince = (about: string) =>
  applyDecorators(
    Field({
      required: true,
      about: `${about} It must be in the past, and ${TIME_RULE}.`,
      example: '2026-01-31T12:00:00.000Z',
    }),
    Is(time().and('range', 'must be in the past', (value) => parseTime(value)! < new Date())),
  );

/** Where it ends. */
export const IsUntil = ({ about, required = false }: { about: string; required?: boolean }) =>
  applyDecorators(
    Field({
      required,
      about: `${about} It must be later than since, and ${TIME_RULE}.`,
      example: '2026-01-31T12:00:00.000Z',
    }),
    Is(time(), {
      code: 'range',
      says: 'must be later than since',
      holds: (value, { dto: { since } }) => isBefore(timeOf(since), timeOf(value)),
    }),
  );

function rangeOf(dto: { since: string; until?: string }): Pick<ReplayFilter, 'since' | 'until'> {
  return { since: parseTime(dto.since)!, ...given({ until: timeOf(dto.until) }) };
}

const MADE = {
  since: 'The start of the time range in which deliveries were created, inclusive.',
  until: 'The end of that time range, exclusive; by default now.',
};

/** Filters of the list of deliveries that select nothing to send. If they were ignored, more would be sent than was meant. */
const LIST_FILTERS = ['contains', 'producerId', 'accountId'];

/** `POST /v1/webhooks/:id/replay` */
export class ReplayRequestDto {
  static readonly refused = ['state', 'event', 'applicationId', 'status', ...LIST_FILTERS];

  @IsSince(MADE.since)
  since!: string;

  @IsUntil({ about: MADE.until })
  until?: string;

  @Field({
    about: 'Only deliveries in one of these states.',
    default: BY_DEFAULT,
    example: ['exhausted'],
  })
  @Is(
    listOf(oneOf(REPLAYABLE_STATES, ReplayableStateSchema), {
      min: 1,
      max: REPLAYABLE_STATES.length,
    }),
    {
      code: 'conflict',
      says: 'must not be given with missed, because missed events have no delivery',
      holds: (_, { dto: { missed } }) => missed !== true,
    },
  )
  states?: ReplayableState[];

  @Field({
    about:
      'Sends events instead of deliveries: those that match the present subscription, and were not delivered to it. ' +
      'They are sent for the first time, so without the header `webhook-replayed`. `since` and `until` apply to the ' +
      'events, from 30 days before the creation of the subscription on.',
    default: false,
    example: false,
  })
  @Is(flag())
  missed?: boolean;

  @Field(DRY_RUN)
  @Is(flag())
  dryRun?: boolean;

  filter(webhookId: string): ReplayFilter {
    const range = { webhookId, ...rangeOf(this) };
    if (this.missed === true) return { ...range, states: [], missed: true };
    return { ...range, states: [...new Set(this.states ?? BY_DEFAULT)] };
  }
}

/** The members of a body that selects deliveries of an account like the filters of `GET /v1/deliveries`. */
function selection<State extends SendableState>(of: {
  states: Validator<State>;
  byDefault: readonly State[];
  about: string;
  example: State;
}) {
  abstract class SelectionDto {
    static readonly refused = LIST_FILTERS;

    /** Declared by each DTO, because its faults come first. */
    abstract since: string;

    @IsUntil({ about: MADE.until })
    until?: string;

    @Field({ about: of.about, example: of.example })
    @Is(wordless(of.states))
    state?: State;

    @Field({ about: 'Only deliveries of events of this kind.', example: 'cdrCreated' })
    @Is(wordless(oneOf(EVENT_KINDS, EventKindSchema)))
    event?: EventKind;

    @Field({
      about:
        'Only deliveries to this subscription; by default to all of the account. Deliveries to subscriptions that are off ' +
        'or deleted are left out.',
      example: '4711',
    })
    @Is(numericId())
    webhookId?: string | number;

    @Field({ about: 'Only deliveries of events of this application.', example: '5080983' })
    @Is(numericId())
    applicationId?: string | number;

    @Field({
      about:
        'Only deliveries whose last attempt had this result: a status such as `404`, a class such as `5xx`, an error, ' +
        'or `failed` for all but 2xx.',
      example: '5xx',
    })
    @Is(wordless(RESULT))
    status?: string;

    @Field(DRY_RUN)
    @Is(flag())
    dryRun?: boolean;

    filter(): ReplayFilter {
      const { state, event, status } = this;
      const [webhookId, applicationId] = [this.webhookId, this.applicationId].map(numericIdOf);
      return {
        ...rangeOf(this),
        states: state === undefined ? of.byDefault : [state],
        ...given({ event, webhookId, applicationId, status }),
      };
    }
  }
  return SelectionDto;
}

/** `POST /v1/deliveries/redeliver` */
export class RedeliverRequestDto extends selection({
  states: oneOf(REPLAYABLE_STATES, ReplayableStateSchema),
  byDefault: BY_DEFAULT,
  about: 'Only deliveries in this state; by default exhausted and cancelled ones.',
  example: 'exhausted',
}) {
  @IsSince(MADE.since)
  since!: string;
}

/** `POST /v1/deliveries/send` */
export class SendRequestDto extends selection({
  states: oneOf(SENDABLE_STATES, SendableStateSchema),
  byDefault: ['pending', ...BY_DEFAULT],
  about:
    'Only deliveries in this state, where `pending` includes parked ones; by default pending, exhausted and ' +
    'cancelled ones.',
  example: 'pending',
}) {
  @IsSince(MADE.since)
  since!: string;
}
