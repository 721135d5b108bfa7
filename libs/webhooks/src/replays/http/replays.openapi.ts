import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { ReplayFinishedError, ReplayLimitError } from '../domain/replay.js';
import { SUBSCRIPTION_INACTIVE } from '../../deliveries/http/deliveries.openapi.js';
import { ReplayCountSchema, ReplayView } from './replay.view.js';
import { NOTIFICATION_LOOP } from '../../deliveries/http/starts-sending.js';
import { ReplaysController } from './replays.controller.js';

const LIMIT_REACHED = describeError(
  new ReplayLimitError({}),
  'As many replays of the subscription, or of all subscriptions of the account, are running as there may be at once.',
);
const FINISHED = describeError(
  new ReplayFinishedError(),
  'The replay is completed: there is nothing left to cancel.',
);

/** What all requests that start a replay have in common. */
const STARTS = {
  answer: AddressSchema,
  headers: ['Location'] as const,
  others: { 200: { about: 'A dry run: nothing is sent.', schema: ReplayCountSchema } },
  errors: [SUBSCRIPTION_INACTIVE, LIMIT_REACHED, NOTIFICATION_LOOP],
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
    'A replay sends finished deliveries of a time again, or sends waiting ones now, as fast as the target takes them.',
  path: { id: { about: 'The id of a replay.', schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Replay deliveries',
      about:
        'Starts finished deliveries of a subscription anew, oldest first: the same ids, a full ' +
        'schedule of attempts, and the header `webhook-replayed`. Tests are left out. With `missed`, it sends ' +
        'what the subscription was not told of instead, as if each event were sent by hand. ' +
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
        'Starts the finished deliveries of the account that the filters select anew, oldest first for each ' +
        'subscription. Tests, and deliveries of subscriptions that are off or deleted, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('exhausted'),
      ...STARTS,
    },
    send: {
      summary: 'Send many now',
      about:
        'Makes the waiting deliveries of the account that the filters select due at once, with their schedules kept, ' +
        'and starts the finished ones anew, oldest first for each subscription. Those of a subscription that is ' +
        'paused, held or has an open circuit wait until it no longer is. Tests, and deliveries of subscriptions that ' +
        'are off or deleted, are left out. ' +
        OTHER_FILTERS,
      examples: examplesOf('pending'),
      ...STARTS,
    },
    show: {
      summary: 'Show a replay',
      about: 'What it selects and how far it came; also after its subscription is gone.',
      answer: ReplayView.schema,
    },
    cancel: {
      summary: 'Cancel a replay',
      about: 'Nothing more begins; what has begun goes on. Done again, it changes nothing.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: [FINISHED],
    },
  },
});
