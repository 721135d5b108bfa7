import { applyDecorators } from '@nestjs/common';
import {
  Check,
  Field,
  Is,
  IsFlag,
  IsId,
  IsTime,
  listOf,
  oneOf,
  parseTime,
  TIME_RULE,
} from '#libs/http';
import { numericIdOf } from '#libs/kernel';
import { REPLAYABLE_STATES, type ReplayableState, type ReplayFilter } from '../domain/replay.js';
import { EVENT_KINDS } from '../../event-kinds/domain/event-kinds.js';
import { RESULT_PART } from '../../deliveries/http/last-result.js';
import { ReplayableStateSchema } from './replay.view.js';

const BY_DEFAULT: readonly ReplayableState[] = ['exhausted', 'cancelled'];

const DRY_RUN = { about: 'Only counts them.', default: false, example: false };

/** Undefined for what is not a time. */
const timeOf = (value: unknown) => (typeof value === 'string' ? parseTime(value) : undefined);

function isBefore(time: Date | undefined, other: Date | undefined): boolean {
  return !time || !other || time < other;
}

/** Where the time range of a replay begins. */
const IsSince = () =>
  applyDecorators(
    Field({
      required: true,
      about: `Those that were made at or after that. It must be in the past, and ${TIME_RULE}.`,
      example: '2026-01-31T12:00:00.000Z',
    }),
    IsTime(),
    Check('range', 'must be in the past', (value) => isBefore(timeOf(value), new Date())),
  );

/** Where it ends. */
const IsUntil = () =>
  applyDecorators(
    Field({
      about: `Those that were made before that; by default now. It must be later than since, and ${TIME_RULE}.`,
      example: '2026-01-31T12:00:00.000Z',
    }),
    IsTime(),
    Check('range', 'must be later than since', (value, { dto }) =>
      isBefore(timeOf(dto['since']), timeOf(value)),
    ),
  );

function rangeOf(dto: { since: string; until?: string }): Pick<ReplayFilter, 'since' | 'until'> {
  const until = timeOf(dto.until);
  return { since: parseTime(dto.since)!, ...(until && { until }) };
}

/** `POST /v1/webhooks/:id/replay` */
export class ReplayRequestDto {
  @IsSince()
  since!: string;

  @IsUntil()
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

  @Field(DRY_RUN)
  @IsFlag()
  dryRun?: boolean;

  filter(webhookId: string): ReplayFilter {
    return { webhookId, ...rangeOf(this), states: [...new Set(this.states ?? BY_DEFAULT)] };
  }
}

/** `POST /v1/deliveries/redeliver` */
export class RedeliverRequestDto {
  @IsSince()
  since!: string;

  @IsUntil()
  until?: string;

  @Field({
    about: 'Those in this state; by default those that are exhausted or cancelled.',
    example: 'exhausted',
  })
  @Is(oneOf(REPLAYABLE_STATES, ReplayableStateSchema))
  state?: ReplayableState;

  @Field({ about: 'Those of events of this kind.', example: 'cdrCreated' })
  @Is(oneOf(EVENT_KINDS))
  event?: string;

  @Field({
    about:
      'Those of this subscription; by default of all of the account. Those of a subscription that is off ' +
      'or deleted are left out.',
    example: '4711',
  })
  @IsId()
  webhookId?: string | number;

  @Field({ about: 'Those of events of this application.', example: '5080983' })
  @IsId()
  applicationId?: string | number;

  @Field({
    about:
      'Those with this result of the last attempt: a status such as `404`, a class such as `5xx`, an error, ' +
      'or `failed` for all but 2xx.',
    example: '5xx',
  })
  @Is(RESULT_PART)
  status?: string;

  @Field(DRY_RUN)
  @IsFlag()
  dryRun?: boolean;

  filter(): ReplayFilter {
    const { state, event, status } = this;
    const [webhookId, applicationId] = [this.webhookId, this.applicationId].map(numericIdOf);
    return {
      ...rangeOf(this),
      states: state === undefined ? BY_DEFAULT : [state],
      ...(event !== undefined && { event }),
      ...(webhookId !== undefined && { webhookId }),
      ...(applicationId !== undefined && { applicationId }),
      ...(status !== undefined && { status }),
    };
  }
}
