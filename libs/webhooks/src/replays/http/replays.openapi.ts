import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { ReplayFinishedError, ReplayLimitError } from '../domain/replay.js';
import { SUBSCRIPTION_INACTIVE } from '../../deliveries/deliveries.openapi.js';
import { ReplayCountSchema, ReplayView } from './replay.view.js';
import { ReplaysController } from './replays.controller.js';

const LIMIT_REACHED = describeError(
  new ReplayLimitError({}),
  'The subscription, or the account, already has the maximum number of running replays.',
);
const FINISHED = describeError(
  new ReplayFinishedError(),
  'The replay is completed, so it cannot be cancelled.',
);

/** What all requests that start a replay have in common. */
const STARTS = {
  answer: AddressSchema,
  others: {
    200: { about: 'The result of a dry run, which sends nothing.', schema: ReplayCountSchema },
  },
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

const OTHER_FILTERS = 'Other filters of `GET /v1/deliveries`, such as `contains`, are refused.';

/** The replays' part of the API description. */
export const replaysRoutes = describeRoutes(ReplaysController, {
  tag: 'Deliveries',
  about:
    'A replay sends finished deliveries of a time range again, or pending ones now, as fast as their targets accept them.',
  path: { id: { about: "The replay's id.", schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Replay deliveries',
      about:
        'Sends finished deliveries of a subscription again, oldest first, with the same ids, a full schedule of attempts, ' +
        'and the header `webhook-replayed`. Tests are left out. With `missed`, it sends the events that the subscription ' +
        'missed instead, as if you sent each of them by hand. ' +
        OTHER_FILTERS,
      path: {
        id: { about: "The subscription's id.", schema: schema.numericId('', '4711') },
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
      summary: 'Redeliver many deliveries',
      about:
        'Sends the finished deliveries of the account that match the filters again, oldest first for each subscription. ' +
        'Tests, and deliveries of disabled or deleted subscriptions, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('exhausted'),
      ...STARTS,
    },
    send: {
      summary: 'Send many deliveries now',
      about:
        'Makes the pending deliveries of the account that match the filters due at once, without changing their ' +
        'schedules, and sends the finished ones again, oldest first for each subscription. Deliveries of a subscription that ' +
        'is paused, whose circuit is open, or whose target has asked to wait, wait until that ends. Tests, and deliveries of ' +
        'disabled or deleted subscriptions, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('pending'),
      ...STARTS,
    },
    show: {
      summary: 'Show a replay',
      about:
        'Returns what a replay selects and its progress, even if its subscription was deleted.',
      answer: ReplayView.schema,
    },
    cancel: {
      summary: 'Cancel a replay',
      about:
        'Stops a replay from starting further deliveries. Those that it has already started continue. Cancelling again has ' +
        'no effect.',
      answer: AddressSchema,
      errors: [FINISHED],
    },
  },
});
