import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { RecoveryRunningError } from '../domain/recovery.js';
import { RecoveriesController } from './recoveries.controller.js';
import { RecoveryCountSchema, RecoveryView } from './recovery.view.js';

const RUNNING = describeError(
  new RecoveryRunningError(),
  'Another recovery is still searching for subscriptions.',
);

/** The recoveries' part of the API description. */
export const recoveriesRoutes = describeRoutes(RecoveriesController, {
  tag: 'Overview',
  about:
    'A recovery undoes the effects on subscriptions of an outage of the service or its network.',
  path: { id: { about: "The recovery's id.", schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Recover from an outage',
      about:
        'Undoes the effects on subscriptions of an outage of the service or its network. It ' +
        'covers the subscriptions that, during the outage (in steps of five minutes), had more attempts that failed without ' +
        'a response (`dns`, `refused`, `reset`, `timeout`) than attempts that failed with one. It closes the circuits that ' +
        'opened then, enables those that the service disabled then because of failures, and sends ' +
        'again the notifications that became exhausted then by an attempt without a response. Subscriptions that had been ' +
        'disabled also get the notifications that were cancelled then, and the events that they missed.',
      examples: {
        smallest: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z' },
        everything: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z', dryRun: true },
      },
      answer: AddressSchema,
      others: {
        200: {
          about: 'The result of a dry run, which changes nothing.',
          schema: RecoveryCountSchema,
        },
      },
      errors: [RUNNING],
    },
    show: {
      summary: 'Show a recovery',
      about: 'Returns what a recovery has done, and its progress.',
      answer: RecoveryView.schema,
    },
  },
});
