import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { ReplayFinishedError, ReplayLimitError } from '../domain/replay.js';
import { SUBSCRIPTION_INACTIVE } from '../../deliveries/deliveries.openapi.js';
import { ReplayCountSchema, ReplayView } from './replay.view.js';
import { ReplaysController } from './replays.controller.js';

const LIMIT_REACHED = describeError(
  new ReplayLimitError({}),
  'The subscription, or the account, already has as many running replays as it may have.',
);
const FINISHED = describeError(
  new ReplayFinishedError(),
  'The replay is completed, so there is nothing to cancel.',
);

/** What all requests that start a replay have in common. */
const STARTS = {
  answer: AddressSchema,
  others: { 200: { about: 'A dry run, which sends nothing.', schema: ReplayCountSchema } },
  errors: [SUBSCRIPTION_INACTIVE, LIMIT_REACHED],
};

const examplesOf = (state: 'exhausted' | 'pending') => ({
  smallest: { since: '2026-01-31T00:00:00Z' },
  everything: {
    since: '2026-01-31T00:00:00Z',
    until: '2026-01-31T12:00:00Z',
    state,
    event: 'cdrCreated',
    webhookId: '4711',
    applicationId: '5080983',
    status: '5xx',
    dryRun: true,
  },
});

const OTHER_FILTERS = 'It refuses other filters of `GET /v1/deliveries`, such as `contains`.';

/** The replays' part of the API description. */
export const replaysRoutes = describeRoutes(ReplaysController, {
  tag: 'Deliveries',
  about:
    'A replay sends the finished deliveries of a time range again, or sends pending ones now, as fast as their targets accept them.',
  path: { id: { about: 'The id of a replay.', schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Replay deliveries',
      about:
        'Restarts finished deliveries of a subscription, oldest first: with the same ids, a full ' +
        'schedule of attempts, and the header `webhook-replayed`. Tests are left out. With `missed`, it sends the events ' +
        'that the subscription has missed instead, as if you sent each one by hand. ' +
        OTHER_FILTERS,
      path: {
        id: { about: 'The id of a webhook subscription.', schema: schema.numericId('', '4711') },
      },
      examples: {
        smallest: { since: '2026-01-31T00:00:00Z' },
        everything: {
          since: '2026-01-31T00:00:00Z',
          until: '2026-01-31T12:00:00Z',
          states: ['succeeded', 'exhausted', 'cancelled'],
          dryRun: true,
        },
        missed: { since: '2026-01-31T00:00:00Z', missed: true },
      },
      ...STARTS,
    },
    redeliver: {
      summary: 'Deliver many again',
      about:
        'Restarts the finished deliveries of the account that match the filters, oldest first for each ' +
        'subscription. Tests, and deliveries of subscriptions that are off or deleted, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('exhausted'),
      ...STARTS,
    },
    send: {
      summary: 'Send many now',
      about:
        'Makes the pending deliveries of the account that match the filters due at once, without changing their ' +
        'schedules, and restarts the finished ones, oldest first for each subscription. Deliveries of a subscription that ' +
        'is paused or held, or whose circuit is open, wait until that ends. Tests, and deliveries of subscriptions that ' +
        'are off or deleted, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('pending'),
      ...STARTS,
    },
    show: {
      summary: 'Show a replay',
      about: 'What the replay selects and its progress, even after its subscription was deleted.',
      answer: ReplayView.schema,
    },
    cancel: {
      summary: 'Cancel a replay',
      about:
        'No further deliveries are restarted; those already restarted continue. Cancelling again has no effect.',
      answer: AddressSchema,
      errors: [FINISHED],
    },
  },
});
