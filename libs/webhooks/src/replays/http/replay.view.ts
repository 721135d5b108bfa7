import { computed, schema, viewOf } from '#libs/http';
import { type SendOutlook, type WaitReason } from '../../subscriptions/domain/send-outlook.js';
import { EventKindSchema } from '../../event-kinds/choices.schema.js';
import {
  type LeftOutReason,
  type Replay,
  REPLAYABLE_STATES,
  type ReplayState,
  SENDABLE_STATES,
  sumOf,
} from '../domain/replay.js';

const STATES: Record<ReplayState, string> = {
  running: 'it starts deliveries, or waits for their targets or for an earlier replay',
  completed:
    'it has started every delivery, except those of subscriptions that were disabled meanwhile',
  cancelled: 'it was cancelled, or its subscription was disabled or deleted',
};

export const ReplayableStateSchema = schema.named(
  'ReplayableState',
  schema.choice('A state of deliveries that can be replayed.', REPLAYABLE_STATES, 'exhausted'),
);

export const SendableStateSchema = schema.named(
  'SendableState',
  schema.choice(
    'A state of deliveries that can be sent now; `pending` includes parked ones.',
    SENDABLE_STATES,
    'pending',
  ),
);

const WAIT_REASON: Record<WaitReason, string> = {
  schedule:
    'The number that waits for a set time, because the target responded with `Retry-After` or an attempt of this replay failed, or for an earlier replay of the subscription.',
  paused: 'The number that waits until the subscription is resumed.',
  circuit:
    "The number that waits for a successful probe, because the subscription's circuit is open or half-open.",
  hold: 'The number that waits until the network of the service reaches targets again.',
  pace: 'The number that waits for `maxPerSecond`, `maxConcurrent` or `ordered` of the subscription.',
};

const NowSchema = schema.integer(
  'The number that is sent at once, as fast as the targets accept them.',
  287,
);

/** Numbers by reason; only the reasons that occur. @param abouts what each number counts */
const countsByReason = (title: string, abouts: Readonly<Record<string, string>>, example: number) =>
  schema.named(
    title,
    schema.object(
      Object.fromEntries(
        Object.entries(abouts).map(([reason, about]) => [
          reason,
          schema.optional(schema.integer(about, example)),
        ]),
      ),
    ),
  );

const WaitingSchema = countsByReason('WaitingDeliveries', WAIT_REASON, 25);

const LEFT_OUT: Record<LeftOutReason, string> = {
  off: 'The number whose subscriptions are disabled.',
  deleted: 'The number whose subscriptions are deleted.',
  test: 'The number of tests.',
  erased: 'The number whose events were erased.',
};

const LeftOutSchema = countsByReason('LeftOutDeliveries', LEFT_OUT, 12);

/** How many deliveries a replay would send. */
export const ReplayCountSchema = schema.named(
  'ReplayCount',
  schema.object({
    deliveries: schema.integer('The number of deliveries that would be sent.', 312),
    now: NowSchema,
    waiting: WaitingSchema,
    leftOut: schema.integer('The number of other deliveries that match, but are left out.', 12),
    leftOutFor: LeftOutSchema,
  }),
);

/** A replay in the form that answers contain. */
export const ReplayView = viewOf<Replay & SendOutlook>()('Replay', {
  id: schema.uuid("The replay's id."),
  href: computed(
    schema.href("The replay's URL.", 'replays/019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
    ({ id }, href) => href('replays', id),
  ),
  webhookId: schema.optional(
    schema.numericId(
      'The id of the only subscription that is replayed; absent for all subscriptions of the account.',
      '4711',
    ),
  ),
  since: schema.time(
    'The start of the time range in which the deliveries were created, inclusive.',
  ),
  until: schema.time('The end of the time range, exclusive.'),
  states: schema.arrayOf(SendableStateSchema),
  missed: schema.optional(
    schema.flag(
      '`true` if the replay sends events that the subscription missed; otherwise absent.',
      true,
    ),
  ),
  event: schema.optional(EventKindSchema),
  applicationId: schema.optional(
    schema.numericId('Only deliveries of events of this application.', '5080983'),
  ),
  status: schema.optional(
    schema.text('Only deliveries whose last attempt had this result.', '5xx'),
  ),
  state: schema.meanings("The replay's state.", STATES, 'running'),
  total: schema.integer('The number of deliveries that matched when the replay was created.', 312),
  replayed: schema.integer(
    'The number of deliveries that the replay has started so far. It exceeds `total` if others in the time range finished meanwhile.',
    200,
  ),
  now: schema.integer(
    'The number of its unfinished deliveries that are in flight or sent at once. At most 100 subscriptions and 10,000 ' +
      'pending deliveries are counted.',
    12,
  ),
  waiting: WaitingSchema,
  leftOut: computed(
    schema.integer(
      'The number of other deliveries that matched, and at most how many were not started because their subscription was ' +
        'disabled or deleted meanwhile.',
      12,
    ),
    ({ leftOutFor }) => sumOf(leftOutFor),
  ),
  leftOutFor: LeftOutSchema,
  createdAt: schema.time('When the replay was created.'),
  completedAt: schema.optional(schema.time('When the replay ended.')),
});
