import { describeRoutes, schema } from '#libs/http';
import { HOLD_CAUSES } from '#libs/kernel';
import { AccountLoadView } from './account-load.view.js';
import { OverviewController } from './overview.controller.js';

const { optional } = schema;

const PROCESS = {
  id: schema.text(
    'The id of the process: `host:pid:random`. Attempts are recorded with the id of their worker.',
    'worker-1:7:9f3a51',
  ),
  version: schema.text('The version that the process runs.', '1.1.0'),
  startedAt: schema.time('When the process started.'),
  seenAt: schema.time('The time of the last heartbeat. There is one every ten seconds.'),
  isAlive: schema.flag('Whether the last heartbeat is at most 35 seconds old.', true),
  cpuPercent: optional(
    schema.integer(
      'The CPU time used in the ten seconds before the heartbeat, in percent of one core.',
      38,
    ),
  ),
  memoryBytes: optional(schema.integer('The resident memory, in bytes.', 176_000_000)),
};

const bytes = (of: string) =>
  schema.integer(`The size of the ${of} of the day, including indexes, in bytes.`, 8_192);

const OverviewSchema = schema.named(
  'Overview',
  schema.object({
    pending: schema.integer('The number of unfinished deliveries.', 12),
    oldestDueS: optional(
      schema.integer(
        'How long the oldest due delivery that is in no queue and at no worker has been due, in seconds.',
        1,
      ),
    ),
    expiredClaims: schema.integer(
      'The number of deliveries whose lease ended without an outcome, and that no worker has claimed since then.',
      0,
    ),
    lookedAt: schema.integer(
      'The number of pending deliveries that `expiredClaims` covers: the first 10,000 of each day.',
      12,
    ),
    workers: schema.arrayOf(
      schema.named(
        'WorkerShown',
        schema.object({
          ...PROCESS,
          inFlight: schema.integer('The number of deliveries in flight at the last heartbeat.', 3),
          hold: optional({
            ...schema.object({
              cause: schema.choice(
                'No target responds (`unreachable`); the egress `proxy` or the `resolver` cannot be reached; the host has no ' +
                  '`network`; or it lacks `resources`.',
                HOLD_CAUSES,
              ),
              since: schema.time('When the hold started.'),
            }),
            description:
              'Why the worker holds its deliveries: a fault of the service or its network. It attempts one delivery per second.',
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
            waiting: schema.integer('The number of waiting jobs, of up to ten deliveries each.', 0),
            active: schema.integer('The number of jobs that workers are fetching.', 0),
          }),
        ),
      ),
      description: 'The queues by shard; absent while Redis is unavailable.',
    }),
    partitions: {
      ...schema.arrayOf(
        schema.named(
          'PartitionsShown',
          schema.object({
            day: schema.text('The day, in UTC.', '2026-01-31', { format: 'date' }),
            events: bytes('events'),
            deliveries: bytes('deliveries'),
            attempts: bytes('attempts'),
          }),
        ),
      ),
      description: 'The stored data by day, newest first; up to a minute old.',
    },
    retention: schema.object({
      days: schema.integer('The number of days that events and their deliveries are kept.', 30),
      nextDay: optional(
        schema.text('The day whose data is deleted next.', '2026-01-01', { format: 'date' }),
      ),
      nextAt: optional(schema.time('The earliest time of that deletion.')),
    }),
    failing: {
      ...schema.arrayOf(
        schema.named(
          'FailingTarget',
          schema.object({
            webhookId: schema.numericId("The subscription's id.", '4711'),
            accountId: schema.numericId("The id of the subscription's account.", '83346'),
            targetUrl: schema.text("The subscription's target URL.", 'https://example.com/hooks'),
            failures: schema.integer(
              'The number of consecutive failed attempts; at most ten are counted.',
              10,
            ),
            failingSince: schema.time('When the first of these attempts failed.'),
            openUntil: optional(
              schema.time(
                'Until this time, only tests and deliveries that are sent now are attempted.',
              ),
            ),
            waiting: schema.integer(
              'The number of unfinished deliveries; at most 10,000 of each day are counted.',
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
            webhookId: schema.numericId("The subscription's id.", '4711'),
            accountId: schema.numericId("The id of the subscription's account.", '83346'),
            targetUrl: schema.text("The subscription's target URL.", 'https://example.com/hooks'),
            lost: schema.integer(
              'The number of notifications that became `exhausted`, or were cancelled by the service, in the last 24 hours.',
              15,
            ),
            lastLostAt: schema.time('When the last of these notifications ended.'),
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
      about: 'Returns the state of the installation, up to two seconds old.',
      answer: OverviewSchema,
    },
    accounts: {
      summary: 'List the load of each account',
      about:
        'Returns how much each account uses the installation: those with events or attempts in the time range, or with ' +
        'unfinished deliveries. The figures are of whole hours, and up to 20 seconds old.',
      answer: schema.arrayOf(AccountLoadView.schema),
    },
  },
});
