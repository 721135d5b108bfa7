import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { RecoveryRunningError } from '../domain/recovery.js';
import { RecoveriesController } from './recoveries.controller.js';
import { RecoveryCountSchema, RecoveryView } from './recovery.view.js';

const RUNNING = describeError(
  new RecoveryRunningError(),
  'Another recovery is still looking for subscriptions.',
);

/** The recoveries' part of the API description. */
export const recoveriesRoutes = describeRoutes(RecoveriesController, {
  tag: 'Overview',
  about: 'A recovery undoes what an outage on our own side did to subscriptions.',
  path: { id: { about: 'The id of a recovery.', schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Recover from an outage',
      about:
        'Undoes what an outage on our own side did to subscriptions between two times. Needs the role `platform`. It ' +
        'covers subscriptions with more attempts in that time, counted in steps of five minutes, that failed without a ' +
        'response (`dns`, `refused`, `reset`, `timeout`) than failed with one. It closes the circuits of those that have ' +
        'been failing since then, switches on those that the service switched off then for their failures, and sends ' +
        'again the notifications that became exhausted then by an attempt without a response. Subscriptions that had ' +
        'been switched off also get the notifications cancelled then, and the events that they missed.',
      examples: {
        smallest: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z' },
        everything: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z', dryRun: true },
      },
      answer: AddressSchema,
      others: { 200: { about: 'A dry run, which changes nothing.', schema: RecoveryCountSchema } },
      errors: [RUNNING],
    },
    show: {
      summary: 'Show a recovery',
      about: 'What it did, and its progress. Needs the role `platform`.',
      answer: RecoveryView.schema,
    },
  },
});
