import { AddressSchema, describeRoutes, schema } from '#libs/http';
import { ReplayRequestSchema } from './replay.body.js';
import { ReplayCountSchema, ReplaySchema } from './replay.view.js';
import { ReplaysController } from './replays.controller.js';

/** Replays in the API's description. */
export const replaysRoutes = describeRoutes(ReplaysController, {
  tag: 'Deliveries',
  about: 'A replay sends finished deliveries of a time again, as fast as the target takes them.',
  path: { id: { about: 'The id of a replay.', schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Replay deliveries',
      about:
        'Starts finished deliveries of a subscription anew, oldest first: the same ids, a full ' +
        'schedule of attempts, and the header `webhook-replayed`. Tests are left out.',
      path: {
        id: { about: 'The id of a webhook subscription.', schema: schema.numericId('', '4711') },
      },
      body: ReplayRequestSchema,
      examples: {
        smallest: { since: '2026-01-31T00:00:00Z' },
        everything: {
          since: '2026-01-31T00:00:00Z',
          until: '2026-01-31T12:00:00Z',
          states: ['succeeded', 'exhausted', 'cancelled'],
          dryRun: true,
        },
      },
      answer: AddressSchema,
      headers: ['Location'],
      others: { 200: { about: 'A dry run: nothing is sent.', schema: ReplayCountSchema } },
      errors: ['subscription_inactive', 'replay_limit_reached'],
    },
    show: {
      summary: 'Show a replay',
      about: 'How far it came; also after its subscription is gone.',
      answer: ReplaySchema,
    },
    cancel: {
      summary: 'Cancel a replay',
      about: 'Nothing more begins anew; what has begun goes on. Done again, it changes nothing.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: ['replay_finished'],
    },
  },
});
