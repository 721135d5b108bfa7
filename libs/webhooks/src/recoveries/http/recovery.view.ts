import { computed, schema, viewOf } from '#libs/http';
import type { Recovery, RecoveryState } from '../domain/recovery.js';

const STATES: Record<RecoveryState, string> = {
  running: 'it searches for subscriptions, or sends their deliveries again',
  completed: 'it has recovered all subscriptions, and started all of their deliveries again',
};

const COUNTS = {
  subscriptions: schema.integer(
    'The number of subscriptions that were changed or get deliveries again.',
    14,
  ),
  circuitsClosed: schema.integer('The number of circuits that were closed.', 9),
  switchedOn: schema.integer('The number of subscriptions that were enabled again.', 1),
  deliveries: schema.integer(
    'The number of deliveries that are sent again, including events that subscriptions missed while they were disabled.',
    312,
  ),
};

/** What a recovery would do. */
export const RecoveryCountSchema = schema.named('RecoveryCount', schema.object(COUNTS));

/** A recovery in the form that answers contain. */
export const RecoveryView = viewOf<Recovery>()('Recovery', {
  id: schema.uuid("The recovery's id."),
  href: computed(
    schema.href("The recovery's URL.", 'overview/recoveries/019a0b1c-2d3e-7f40-8a51-b26c73d84e96'),
    ({ id }, href) => href('overview', 'recoveries', id),
  ),
  since: schema.time('When the outage started.'),
  until: schema.time('When the outage ended.'),
  state: schema.meanings("The recovery's state.", STATES, 'running'),
  ...COUNTS,
  sent: schema.integer('The number of these deliveries that have started again so far.', 200),
  createdAt: schema.time('When the recovery was created.'),
  completedAt: schema.optional(schema.time('When the recovery ended.')),
});
