import { computed, schema, viewOf } from '#libs/http';
import {
  type SendOutlook,
  WAIT_REASONS,
  type WaitReason,
} from '../../subscriptions/domain/send-outlook.js';
import { EventKindSchema } from '../../event-kinds/choices.schema.js';
import {
  type Replay,
  REPLAYABLE_STATES,
  type ReplayState,
  SENDABLE_STATES,
} from '../domain/replay.js';

const STATES: Record<ReplayState, string> = {
  running: 'deliveries are being restarted or sent, or wait for their target or an earlier replay',
  completed:
    'every delivery was restarted or sent, except those of subscriptions that were switched off meanwhile',
  cancelled: 'it was cancelled, or its subscription was switched off or deleted',
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
    'Until a set time, because the target answered with `Retry-After` or an attempt of this replay failed; or until an earlier replay of the subscription has ended.',
  paused: 'Until the customer resumes the subscription.',
  circuit: "Until a probe succeeds, because the subscription's circuit is open or half-open.",
  hold: 'Until our own network reaches targets again.',
  pace: 'Until `maxPerSecond`, `maxConcurrent` or `ordered` of the subscription lets them go.',
};

const NowSchema = schema.integer(
  'How many of them are sent at once, as fast as their targets accept them.',
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
      'How many other deliveries match, but are left out because their subscriptions are off.',
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
      'The only subscription that is replayed; absent for all subscriptions of the account.',
      '4711',
    ),
  ),
  since: schema.time('The start of the time range in which deliveries were created, inclusive.'),
  until: schema.time('The end of that time range, exclusive.'),
  states: schema.arrayOf(SendableStateSchema),
  missed: schema.optional(
    schema.flag('Always `true`: the replay sends events that the subscription has missed.', true),
  ),
  event: schema.optional(EventKindSchema),
  applicationId: schema.optional(
    schema.numericId('Only deliveries for events of this application.', '5080983'),
  ),
  status: schema.optional(
    schema.text('Only deliveries whose last attempt had this result.', '5xx'),
  ),
  state: schema.meanings('The state of the replay.', STATES, 'running'),
  total: schema.integer('How many deliveries matched when the replay was created.', 312),
  replayed: schema.integer(
    'How many were restarted or sent so far: more than `total` if others in the time range ended meanwhile.',
    200,
  ),
  now: schema.integer(
    'How many of its unfinished deliveries are in flight or sent at once. At most 100 subscriptions and 10,000 pending ' +
      'deliveries are counted.',
    12,
  ),
  waiting: WaitingSchema,
  createdAt: schema.time('When the replay was created.'),
  completedAt: schema.optional(schema.time('When it ended.')),
});
