import { computed, schema, viewOf } from '#libs/http';
import type { Erasure, ErasureState } from '../domain/erasure.js';

const { optional } = schema;

const STATES: Record<ErasureState, string> = {
  running: 'it searches for events with the text',
  completed: 'it has searched all of them',
};

const COUNTS = {
  events: schema.integer('The number of events whose data contained the text.', 14),
  producerIds: schema.integer("The number of producers' keys that contained the text.", 2),
};

/** What an erasure would find. */
export const ErasureCountSchema = schema.named('ErasureCount', schema.object(COUNTS));

/** An erasure in the form that answers contain. It does not have the text. */
export const ErasureView = viewOf<Erasure>()('Erasure', {
  id: schema.uuid("The erasure's id."),
  href: computed(
    schema.href("The erasure's URL.", 'erasures/019a0b1c-2d3e-7f40-8a51-b26c73d84e97'),
    ({ id }, href) => href('erasures', id),
  ),
  accountId: computed(
    optional(
      schema.accountNumber('The account whose events are searched; absent for all accounts.'),
    ),
    ({ accountId }) => (accountId === undefined ? undefined : Number(accountId)),
  ),
  since: optional(schema.time('The start of the time range.')),
  until: schema.time('The end of the time range.'),
  state: schema.meanings("The erasure's state.", STATES, 'running'),
  ...COUNTS,
  deliveries: schema.integer('The number of waiting deliveries that were cancelled.', 1),
  searchedTo: optional(
    schema.time(
      'While it runs: all events that were accepted before this time have been searched.',
    ),
  ),
  createdAt: schema.time('When the erasure was created.'),
  completedAt: optional(schema.time('When the erasure was completed, and its text removed.')),
});
