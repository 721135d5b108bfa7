import { describeRoutes, schema } from '#libs/http';
import { HOLD_CAUSES } from '#libs/kernel';
import { AccountLoadView } from './account-load.view.js';
import { OverviewController } from './overview.controller.js';

const { optional } = schema;

const PROCESS = {
  id: schema.text(
    '`host:pid:random`. Attempts are recorded with the id of their worker.',
    'worker-1:7:9f3a51',
  ),
  version: schema.text('Its version.', '1.1.0'),
  startedAt: schema.time('When it started.'),
  seenAt: schema.time('Its last heartbeat. There is one every ten seconds.'),
  isAlive: schema.flag('Whether its last heartbeat was at most 35 seconds ago.', true),
  cpuPercent: optional(
    schema.integer('Its share of one core in the ten seconds before, in percent.', 38),
  ),
  memoryBytes: optional(schema.integer('Its resident memory, in bytes.', 176_000_000)),
};

const bytes = (of: string) => schema.integer(`Bytes of ${of}, including indexes.`, 8_192);

const OverviewSchema = schema.named(
  'Overview',
  schema.object({
    pending: schema.integer('Unfinished deliveries.', 12),
    oldestDueS: optional(
      schema.integer(
        'For how long the oldest due delivery that no worker and no queue holds has been due, in seconds.',
        1,
      ),
    ),
    expiredClaims: schema.integer(
      'Deliveries whose lease ended without an outcome, and that no worker has claimed since then.',
      0,
    ),
    lookedAt: schema.integer(
      'How many pending deliveries `expiredClaims` covers: the first 10,000 of each day.',
      12,
    ),
    workers: schema.arrayOf(
      schema.named(
        'WorkerShown',
        schema.object({
          ...PROCESS,
          inFlight: schema.integer('Deliveries in flight at its last heartbeat.', 3),
          hold: optional({
            ...schema.object({
              cause: schema.choice(
                'No target answers (`unreachable`); the egress proxy or the resolver cannot be reached; its host has no ' +
                  '`network`; or it lacks `resources`.',
                HOLD_CAUSES,
              ),
              since: schema.time('Since when.'),
            }),
            description:
              'Why it holds its deliveries: a fault on our own side. It tries one delivery a second.',
          }),
        }),
      ),
    ),
    apis: schema.arrayOf(schema.named('ApiShown', schema.object(PROCESS))),
    queues: optional({
      ...schema.arrayOf(
        schema.named(
          'QueueShown',
          schema.object({
            waiting: schema.integer('Waiting jobs, of up to ten deliveries each.', 0),
            active: schema.integer('Jobs that a worker is fetching.', 0),
          }),
        ),
      ),
      description: 'The queues by shard; absent while Redis is away.',
    }),
    partitions: {
      ...schema.arrayOf(
        schema.named(
          'PartitionsShown',
          schema.object({
            day: schema.text('The day in UTC.', '2026-01-31', { format: 'date' }),
            events: bytes('events'),
            deliveries: bytes('deliveries'),
            attempts: bytes('attempts'),
          }),
        ),
      ),
      description: 'The stored data by day, newest first; up to a minute old.',
    },
    retention: schema.object({
      days: schema.integer('How many days events and their deliveries are kept.', 30),
      nextDay: optional(
        schema.text('The day whose data is deleted next.', '2026-01-01', { format: 'date' }),
      ),
      nextAt: optional(schema.time('The earliest time at which it is deleted.')),
    }),
    failing: {
      ...schema.arrayOf(
        schema.named(
          'FailingTarget',
          schema.object({
            webhookId: schema.numericId('The subscription.', '4711'),
            accountId: schema.numericId('Its account.', '83346'),
            targetUrl: schema.text('Its target.', 'https://example.com/hooks'),
            failures: schema.integer('Consecutive failed attempts; at most ten are counted.', 10),
            failingSince: schema.time('When the first of them failed.'),
            openUntil: optional(
              schema.time('Until this time, only tests and deliveries that are sent now are sent.'),
            ),
            waiting: schema.integer(
              'Its unfinished deliveries, at most 10,000 of each day.',
              3_112,
            ),
          }),
        ),
      ),
      description: 'The 20 subscriptions whose targets have failed for the longest time.',
    },
    losing: {
      ...schema.arrayOf(
        schema.named(
          'LosingSubscription',
          schema.object({
            webhookId: schema.numericId('The subscription.', '4711'),
            accountId: schema.numericId('Its account.', '83346'),
            targetUrl: schema.text('Its target.', 'https://example.com/hooks'),
            lost: schema.integer(
              'How many notifications ended as `exhausted`, or were cancelled by the service, in the last 24 hours.',
              15,
            ),
            lastLostAt: schema.time('When the last of them ended.'),
          }),
        ),
      ),
      description:
        'The 20 subscriptions that have lost the most notifications in the last 24 hours.',
    },
    schemaVersion: schema.text('The newest migration of the database.', 'Webhooks1763700000004'),
  }),
);

/** The overview in the API description. */
export const overviewRoutes = describeRoutes(OverviewController, {
  tag: 'Overview',
  about: 'The state of the installation.',
  operations: {
    show: {
      summary: 'Show the state of the installation',
      about: 'Needs the role `platform`. The answer may be two seconds old.',
      answer: OverviewSchema,
    },
    accounts: {
      summary: 'List the load by account',
      about:
        'Which accounts use the installation most. Needs the role `platform`. Lists accounts with events, attempts or ' +
        'pending deliveries in whole hours, a page at a time. The figures may be 20 seconds old.',
      answer: schema.arrayOf(AccountLoadView.schema),
    },
  },
});
