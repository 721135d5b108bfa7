import { computed, schema, viewOf } from '#libs/http';
import {
  type SendOutlook,
  WAIT_REASONS,
  type WaitReason,
} from '../../subscriptions/domain/send-outlook.js';
import { EventKindSchema } from '../../event-kinds/http/choices.schema.js';
import {
  type Replay,
  REPLAYABLE_STATES,
  type ReplayState,
  SENDABLE_STATES,
} from '../domain/replay.js';

const STATES: Record<ReplayState, string> = {
  running: 'deliveries begin anew or are sent now, or wait for the target or for an earlier replay',
  completed:
    'every one of them has begun anew or was sent now; those of a subscription that was switched off meanwhile are left out',
  cancelled: 'it was cancelled, or the one subscription that it is of was switched off or deleted',
};

export const ReplayableStateSchema = schema.named(
  'ReplayableState',
  schema.choice('A state of deliveries that can be replayed.', REPLAYABLE_STATES, 'exhausted'),
);

export const SendableStateSchema = schema.named(
  'SendableState',
  schema.choice(
    'A state of deliveries that can be sent now: `pending` includes parked ones.',
    SENDABLE_STATES,
    'pending',
  ),
);

const WAIT_REASON: Record<WaitReason, string> = {
  schedule:
    'Until a time that is set: the target asked for it with `Retry-After`, an attempt of this replay failed, or an earlier replay of the subscription is still running.',
  paused: 'Until the customer resumes the subscription.',
  circuit: "Until a probe succeeds, because the subscription's circuit is open or half-open.",
  hold: 'Until our own network reaches targets again.',
  pace: 'Until `maxPerSecond`, `maxConcurrent` or `ordered` of the subscription lets them go.',
};

const NowSchema = schema.integer(
  'How many of them are sent at once, as fast as their targets take them.',
  287,
);

/** Only the reasons that occur. */
const WaitingSchema = schema.named(
  'WaitingDeliveries',
  schema.object(
    Object.fromEntries(
      WAIT_REASONS.map((reason) => [
        reason,
        schema.optional(schema.integer(WAIT_REASON[reason], 25)),
      ]),
    ),
  ),
);

/** How many deliveries a replay would send. */
export const ReplayCountSchema = schema.named(
  'ReplayCount',
  schema.object({
    deliveries: schema.integer('How many would be sent again.', 312),
    now: NowSchema,
    waiting: WaitingSchema,
    leftOut: schema.integer(
      'How many others are selected, but left out because their subscriptions are off.',
      12,
    ),
    leftOutFor: schema.object({
      off: schema.optional(schema.integer('Their subscriptions are off.', 12)),
    }),
  }),
);

/** A replay in the form that answers contain. */
export const ReplayView = viewOf<Replay & SendOutlook>()('Replay', {
  id: schema.uuid('Its id.'),
  href: computed(
    schema.href('Its address.', 'replays/019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
    ({ id }, href) => href('replays', id),
  ),
  webhookId: schema.optional(
    schema.numericId(
      'The only subscription that is told again; without it, all of the account.',
      '4711',
    ),
  ),
  since: schema.time('Deliveries that were made at or after that.'),
  until: schema.time('Deliveries that were made before that.'),
  states: schema.arrayOf(SendableStateSchema),
  missed: schema.optional(
    schema.flag('Always `true`: it sends events that the subscription has missed.', true),
  ),
  event: schema.optional(EventKindSchema),
  applicationId: schema.optional(
    schema.numericId('Deliveries of events of this application.', '5080983'),
  ),
  status: schema.optional(schema.text('Deliveries with this result of the last attempt.', '5xx')),
  state: schema.meanings('How it stands.', STATES, 'running'),
  total: schema.integer('How many deliveries there were when it was asked for.', 312),
  replayed: schema.integer(
    'How many have begun anew or were sent now: more than total if others in the time range ended meanwhile.',
    200,
  ),
  now: schema.integer(
    'Of its deliveries that have not ended, how many are sent at once or are under way. It looks at 100 subscriptions ' +
      'and 10,000 waiting deliveries at most.',
    12,
  ),
  waiting: WaitingSchema,
  createdAt: schema.time('When it was asked for.'),
  completedAt: schema.optional(schema.time('When it ended.')),
});
