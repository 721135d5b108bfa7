import { computed, schema, viewOf } from '#libs/http';
import type { Recovery, RecoveryState } from '../domain/recovery.js';

const STATES: Record<RecoveryState, string> = {
  running: 'it looks for subscriptions, or their deliveries are being sent again',
  completed: 'all subscriptions were recovered, and all of their deliveries have begun anew',
};

const COUNTS = {
  subscriptions: schema.integer(
    'Subscriptions that are recovered: changed, or sent deliveries again.',
    14,
  ),
  circuitsClosed: schema.integer('How many of them had an open circuit, which is closed.', 9),
  switchedOn: schema.integer('How many of them had been switched off, and are on again.', 1),
  deliveries: schema.integer(
    'How many deliveries are sent again, with the events that were missed by subscriptions while they were off.',
    312,
  ),
};

/** What a recovery would do. */
export const RecoveryCountSchema = schema.named('RecoveryCount', schema.object(COUNTS));

/** A recovery in the form that answers contain. */
export const RecoveryView = viewOf<Recovery>()('Recovery', {
  id: schema.uuid('Its id.'),
  href: computed(
    schema.href('Its address.', 'overview/recoveries/019a0b1c-2d3e-7f40-8a51-b26c73d84e96'),
    ({ id }, href) => href('overview', 'recoveries', id),
  ),
  since: schema.time('When the outage began.'),
  until: schema.time('When it had ended.'),
  state: schema.meanings('How it stands.', STATES, 'running'),
  ...COUNTS,
  sent: schema.integer('How many of the deliveries have begun anew so far.', 200),
  createdAt: schema.time('When it was asked for.'),
  completedAt: schema.optional(schema.time('When it ended.')),
});
