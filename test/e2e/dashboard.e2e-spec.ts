import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { basic, type Client, clientOf, send } from '../support/http.js';
import { connectTo } from '../support/raw-connection.js';
import { startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

/** The current values of both processes: all samples of a metric, summed. */
type Figures = Record<string, number>;

let database: TestDatabase;
let postgres: TcpProxy;
let redis: TcpProxy;
let receiver: Receiver;
let processes: ServiceProcess[];
let addresses: string[];
let platform: Client;
let auth: string;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  [postgres, redis, receiver] = await Promise.all([
    proxyTo(database.url),
    proxyTo(testRedisUrl().toString()),
    startReceiver(),
  ]);
  const ports = [String(await freePort()), String(await freePort())] as const;
  addresses = ports.map((port) => `http://127.0.0.1:${port}/metrics`);
  const environment = {
    DATABASE_URL: postgres.address,
    REDIS_URL: redis.address,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '',
    DELIVERY_TIMEOUT_MS: '5000',
  };
  processes = await Promise.all([
    startApi({ ...environment, METRICS_PORT: ports[0] }),
    startWorker({ ...environment, METRICS_PORT: ports[1] }),
  ]);
  ({ auth } = await createUser(database, 'p', 'platform'));
  platform = clientOf(processes[0]!.url, auth);
  // A route has no figures before its first request.
  await platform.get('/v1/users');
  ({ id: accountId } = await createUser(database, 'customer'));
  await aSubscription(database, accountId, { target_url: receiver.url });
});
afterAll(async () => {
  const client = new Redis(testRedisUrl().toString());
  await client.lrem('{switchhook:0}:deliveries-0:active', 0, 'of-nobody');
  client.disconnect();
  await Promise.all(processes.map((running) => running.stop()));
  await Promise.all([postgres.close(), redis.close(), receiver.close()]);
  await database.drop();
});

async function figures(): Promise<Figures> {
  const sums: Figures = {};
  for (const address of addresses) {
    const { text } = await send('GET', address);
    for (const [, name = '', value] of text.matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm)) {
      sums[name] = (sums[name] ?? 0) + Number(value);
    }
  }
  return sums;
}

async function report(count = 1, data = ''): Promise<void> {
  const event = { event: 'cdrCreated', resource: 'call', accountId, data: { data } };
  const events = Array.from({ length: count }, () => event);
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
}

/** What may happen to an installation, and the metrics that must rise as a result. */
const SCENARIOS: [what: string, happen: () => Promise<void>, rising: string[]][] = [
  [
    'events are delivered',
    () => report(5),
    [
      'http_server_request_duration_seconds_bucket',
      'http_server_request_duration_seconds_count',
      'switchhook_events_total',
      'switchhook_attempts_total',
      'switchhook_deliveries_finished_total',
      'switchhook_first_attempt_delay_seconds_bucket',
      'switchhook_attempt_duration_seconds_bucket',
    ],
  ],
  [
    'a request does not arrive in whole',
    async () => {
      const slow = await connectTo(processes[0]!.url);
      const head = `Authorization: ${basic(auth)}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`;
      slow.write(`POST /v1/events HTTP/1.1\r\nHost: api\r\n${head}`);
    },
    ['http_server_active_requests'],
  ],
  [
    'a target hangs',
    async () => {
      receiver.answering = () => undefined;
      await report(20);
    },
    ['switchhook_pending_deliveries', 'switchhook_slots_used'],
  ],
  [
    'jobs stay on the queue',
    async () => {
      // Jobs that some worker holds, as far as the queue knows, and more than there can be of the hanging target's,
      // which end meanwhile.
      const jobs = Array.from({ length: 100 }, () => 'of-nobody');
      const client = new Redis(testRedisUrl().toString());
      await client.lpush('{switchhook:0}:deliveries-0:active', ...jobs);
      client.disconnect();
    },
    ['switchhook_queue_jobs'],
  ],
  [
    'Redis goes away',
    async () => {
      redis.down();
      await report();
    },
    ['switchhook_redis_errors_total', 'switchhook_oldest_due_age_seconds'],
  ],
  [
    'Redis comes back without a job',
    async () => {
      redis.up();
      await report();
      // As if the lease of a lost job had ended, whether a worker has claimed the delivery meanwhile or not.
      await database.query(
        `UPDATE deliveries SET claimed_until = now(), next_attempt_at = now() WHERE state = 'pending'`,
      );
    },
    ['switchhook_expired_claims_total'],
  ],
  [
    'PostgreSQL goes away for a moment',
    async () => {
      postgres.down();
      const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
      expect((await platform.post('/v1/events', event)).status).toBe(503);
      postgres.up();
    },
    ['switchhook_database_errors_total'],
  ],
  [
    'a process is busy',
    async () => {
      const much = 'x'.repeat(7_000);
      await Promise.all(Array.from({ length: 4 }, () => report(1_000, much)));
    },
    [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ],
  ],
];

it.each(SCENARIOS)('the dashboard reacts when %s', async (_, happen, rising) => {
  // Whatever was measured since the last scrape belongs to earlier events.
  await figures();
  const before = await eventually(figures, (now) => rising.every((name) => name in now));
  await happen();
  const highest: Figures = { ...before };
  await eventually(
    async () => {
      for (const [name, value] of Object.entries(await figures())) {
        highest[name] = Math.max(highest[name] ?? 0, value);
      }
      return rising.filter((name) => !(highest[name]! > before[name]!));
    },
    (unmoved) => unmoved.length === 0,
  );
});

/** Nothing here makes them rise: other tests do, such as `test/release/alerts.spec.ts`, or see their values. */
const SEEN_ELSEWHERE = [
  'switchhook_clock_offset_seconds',
  'switchhook_database_primaries',
  'switchhook_database_synchronous',
  'switchhook_hold',
  'switchhook_oldest_startable_age_seconds',
  'switchhook_own_faults_total',
  'switchhook_slots',
  'switchhook_target_health_changes_total',
];

it('the dashboard shows only metrics that a test has seen', () => {
  const url = new URL('../../tools/monitoring/dashboard.json', import.meta.url);
  const names = readFileSync(url, 'utf8').match(
    /\b(?:switchhook|nodejs|process|http_server)_[a-z0-9_]+/g,
  );
  const moved = SCENARIOS.flatMap(([, , rising]) => rising);
  expect([...new Set(names)].toSorted()).toEqual([...moved, ...SEEN_ELSEWHERE].toSorted());
});
