import { computed, schema, viewOf } from '#libs/http';
import type { Recovery, RecoveryState } from '../domain/recovery.js';

const STATES: Record<RecoveryState, string> = {
  running: 'it is looking for subscriptions, or their deliveries are being sent again',
  completed: 'all subscriptions were recovered, and all of their deliveries were restarted',
};

const COUNTS = {
  subscriptions: schema.integer('How many subscriptions were changed or get deliveries again.', 14),
  circuitsClosed: schema.integer('How many of them had an open circuit that was closed.', 9),
  switchedOn: schema.integer('How many of them were switched on again.', 1),
  deliveries: schema.integer(
    'How many deliveries are sent again, including events that subscriptions missed while they were off.',
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
  until: schema.time('When the outage had ended.'),
  state: schema.meanings('The state of the recovery.', STATES, 'running'),
  ...COUNTS,
  sent: schema.integer('How many of the deliveries were restarted so far.', 200),
  createdAt: schema.time('When the recovery was created.'),
  completedAt: schema.optional(schema.time('When it ended.')),
});
