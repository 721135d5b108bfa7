import { computed, schema, viewOf } from '#libs/http';
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

/** How many deliveries a replay would send. */
export const ReplayCountSchema = schema.named(
  'ReplayCount',
  schema.object({
    deliveries: schema.integer('How many would be sent again.', 312),
    leftOut: schema.integer(
      'How many others are selected, but left out because their subscriptions are off.',
      12,
    ),
  }),
);

/** A replay in the form that answers contain. */
export const ReplayView = viewOf<Replay>()('Replay', {
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
  createdAt: schema.time('When it was asked for.'),
  completedAt: schema.optional(schema.time('When it ended.')),
});
