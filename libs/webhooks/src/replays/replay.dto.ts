import { given } from '#libs/http';
import {
  Field,
  flag,
  IdField,
  listOf,
  oneOf,
  parseTime,
  type Problem,
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

const DRY_RUN = {
  about: 'Only counts the deliveries, and sends nothing.',
  default: false,
  example: false,
};

/** Without words for a validator whose schema says it all. */
const wordless = (validator: Validator): Validator => ({ ...validator, wording: [] });

const PAST = time().and('range', 'must be in the past', (value) => parseTime(value)! < new Date());
const TOO_EARLY: Problem = { code: 'range', says: 'must be later than since' };

/** The start of a time range to act on. */
export const IsSince = (about: string) =>
  Field(PAST, {
    required: true,
    read: parseTime,
    about: `${about} It must be in the past, and ${TIME_RULE}.`,
    example: '2026-01-31T12:00:00.000Z',
  });

/** The end of that time range. */
export const IsUntil = ({ about, required = false }: { about: string; required?: boolean }) =>
  Field(
    time(),
    {
      required,
      read: parseTime,
      about: `${about} It must be later than since, and ${TIME_RULE}.`,
      example: '2026-01-31T12:00:00.000Z',
    },
    (until, { read: { since } }) =>
      since instanceof Date && parseTime(until)! <= since ? TOO_EARLY : undefined,
  );

const MADE = {
  since: 'The start of the time range in which the deliveries were created, inclusive.',
  until: 'The end of the time range, exclusive; by default, now.',
};

/** Filters of the list of deliveries that select nothing to send. If they were ignored, more would be sent than was meant. */
const LIST_FILTERS = ['contains', 'producerId', 'accountId'];

const HAS_NO_STATE: Problem = {
  code: 'conflict',
  says: 'must not be given with missed, because missed events have no delivery',
};

/** `POST /v1/webhooks/:id/replay` */
export class ReplayRequestDto {
  static readonly refused = ['state', 'event', 'applicationId', 'status', ...LIST_FILTERS];

  @IsSince(MADE.since)
  since!: Date;

  @IsUntil({ about: MADE.until })
  until?: Date;

  @Field(flag(), {
    about:
      'Sends missed events instead of deliveries: those that match the subscription as it is now and were not delivered to ' +
      'it. They are sent for the first time, so without the header `webhook-replayed`. `since` and `until` apply to the ' +
      'events; the earliest are from 30 days before the creation of the subscription.',
    default: false,
    example: false,
  })
  missed!: boolean;

  @Field(
    listOf(oneOf(REPLAYABLE_STATES, ReplayableStateSchema), {
      min: 1,
      max: REPLAYABLE_STATES.length,
    }),
    {
      about: `Only deliveries in one of these states. It ${HAS_NO_STATE.says}.`,
      default: BY_DEFAULT,
      example: ['exhausted'],
    },
    (_, { read: { missed } }) => (missed === true ? HAS_NO_STATE : undefined),
  )
  states!: readonly ReplayableState[];

  @Field(flag(), DRY_RUN)
  dryRun!: boolean;

  filter(webhookId: string): ReplayFilter {
    const { since, until, missed, states } = this;
    const range = { webhookId, since, ...(until && { until }) };
    if (missed) return { ...range, states: [], missed };
    return { ...range, states: [...new Set(states)] };
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
    abstract since: Date;

    @IsUntil({ about: MADE.until })
    until?: Date;

    @Field(wordless(of.states), { about: of.about, example: of.example })
    state?: State;

    @Field(wordless(oneOf(EVENT_KINDS, EventKindSchema)), {
      about: 'Only deliveries of events of this kind.',
      example: 'cdrCreated',
    })
    event?: EventKind;

    @IdField({
      about:
        'Only deliveries to this subscription; by default, to all subscriptions of the account. Deliveries to disabled or ' +
        'deleted subscriptions are left out.',
      example: '4711',
    })
    webhookId?: string;

    @IdField({ about: 'Only deliveries of events of this application.', example: '5080983' })
    applicationId?: string;

    @Field(wordless(RESULT), {
      about:
        'Only deliveries whose last attempt had this result: a status such as `404`, a class such as `5xx`, an error, ' +
        'or `failed` for all but 2xx.',
      example: '5xx',
    })
    status?: string;

    @Field(flag(), DRY_RUN)
    dryRun!: boolean;

    filter(): ReplayFilter {
      const { since, until, state, event, webhookId, applicationId, status } = this;
      return {
        since,
        states: state === undefined ? of.byDefault : [state],
        ...given({ until, event, webhookId, applicationId, status }),
      };
    }
  }
  return SelectionDto;
}

/** `POST /v1/deliveries/redeliver` */
export class RedeliverRequestDto extends selection({
  states: oneOf(REPLAYABLE_STATES, ReplayableStateSchema),
  byDefault: BY_DEFAULT,
  about: 'Only deliveries in this state; by default, exhausted and cancelled ones.',
  example: 'exhausted',
}) {
  @IsSince(MADE.since)
  since!: Date;
}

/** `POST /v1/deliveries/send` */
export class SendRequestDto extends selection({
  states: oneOf(SENDABLE_STATES, SendableStateSchema),
  byDefault: ['pending', ...BY_DEFAULT],
  about:
    'Only deliveries in this state, where `pending` includes parked ones; by default, pending, exhausted and cancelled ' +
    'ones.',
  example: 'pending',
}) {
  @IsSince(MADE.since)
  since!: Date;
}
