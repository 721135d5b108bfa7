import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { NOTIFICATION_LOOP } from '../../deliveries/http/starts-sending.js';
import { RecoveryRunningError } from '../domain/recovery.js';
import { RecoveriesController } from './recoveries.controller.js';
import { RecoveryCountSchema, RecoveryView } from './recovery.view.js';

const RUNNING = describeError(
  new RecoveryRunningError(),
  'Another recovery has not looked at all subscriptions yet.',
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
        'Undoes what an outage on our own side did to subscriptions between two times. Needs the role `platform`. Of the ' +
        'subscriptions with more attempts that failed without an answer (`dns`, `refused`, `reset`, `timeout`) than with ' +
        'one, by five minutes, it closes the circuits of those that have failed since then, switches on those that were ' +
        'switched off then for their failures, and sends again what became exhausted then by an attempt without an ' +
        'answer. Those that were switched off also get what was cancelled then, and the events that they missed.',
      examples: {
        smallest: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z' },
        everything: { since: '2026-01-31T11:00:00Z', until: '2026-01-31T12:00:00Z', dryRun: true },
      },
      answer: AddressSchema,
      headers: ['Location'],
      others: { 200: { about: 'A dry run: nothing is changed.', schema: RecoveryCountSchema } },
      errors: [RUNNING, NOTIFICATION_LOOP],
    },
    show: {
      summary: 'Show a recovery',
      about: 'What it has done and how far it came. Needs the role `platform`.',
      answer: RecoveryView.schema,
    },
  },
});
