import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { EventStream } from '../support/event-stream.js';
import { type Client, clientOf } from '../support/http.js';
import { programs, startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { RedisServers } from '../support/redis-servers.js';

const SUBSCRIPTIONS = 6;
const NODE_TIMEOUT_MS = 1_000;

let database: TestDatabase;
let servers: RedisServers;
let receiver: Receiver;
let processes: ServiceProcess[] = [];
let platform: Client;
let account: { id: string; auth: string };
let stream: EventStream;
let reported = 0;

beforeEach(async () => {
  [database, servers, receiver] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'switchhook-redis-')).then(
      (dir) => new RedisServers(dir, programs, NODE_TIMEOUT_MS),
    ),
    startReceiver(),
  ]);
  reported = 0;
});
afterEach(async () => {
  await Promise.all(processes.map((running) => running.stop()));
  processes = [];
  stream.close();
  await receiver.close();
  await servers.end();
  await database.drop();
});

/** Starts an API and a worker on that Redis, with an account and subscriptions in every queue. */
async function startOn(redisUrl: string): Promise<void> {
  const environment = {
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_TIMEOUT_MS: '1000',
    QUEUE_SHARDS: '6',
  };
  account = await createUser(database, 'customer');
  const { auth } = await createUser(database, 'platform', 'platform');
  processes = await Promise.all([startApi(environment), startWorker(environment)]);
  const url = processes[0]?.url ?? '';
  platform = clientOf(url, auth);
  for (let path = 0; path < SUBSCRIPTIONS; path += 1) {
    const targetUrl = `${receiver.url}/${String(path)}`;
    const body = { event: 'cdrCreated', resource: 'all', targetUrl };
    expect((await clientOf(url, account.auth).post('/v1/webhooks', body)).status).toBe(200);
  }
  stream = await EventStream.open(`${url}/v1/stream`, account.auth);
}

/** Reports events, and waits until every subscription was notified of all events so far. */
async function reportAndAwait(count: number): Promise<void> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: account.id, data: {} };
  const events = Array<typeof event>(count).fill(event);
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
  reported += count;
  await receiver.until(
    (received) => new Set(received.map(({ id }) => id)).size === reported * SUBSCRIPTIONS,
  );
}

/** Reports events until the stream shows one of their deliveries. */
async function reportUntilStreamed(): Promise<void> {
  stream.events.length = 0;
  await eventually(
    async () => {
      await reportAndAwait(1);
      return stream.events.some(({ name }) => name === 'delivery');
    },
    Boolean,
    { ms: 30_000, everyMs: 200 },
  );
}

it('delivers through a Redis Cluster, and continues when a primary is lost', async () => {
  const [port = 0] = await servers.startCluster(1);
  await startOn(`redis+cluster://127.0.0.1:${String(port)}`);
  await reportAndAwait(50);
  const nodes = String(await servers.ask(port, 'CLUSTER', 'NODES'));
  const primaries = nodes.split('\n').filter((line) => line.includes('master'));
  // Each primary holds a part of the queues.
  const used = await Promise.all(
    primaries.map((line) => servers.ask(portOf(line), 'KEYS', '*:id')),
  );
  expect(used.flat().length).toBe(6);
  expect(used.filter((keys) => (keys as string[]).length > 0).length).toBeGreaterThan(1);

  const [lost = ''] = primaries.filter((line) => portOf(line) !== port);
  await reportUntilStreamed();
  await servers.kill(portOf(lost));
  await reportAndAwait(50);
  await reportUntilStreamed();
});

const portOf = (line: string): number => Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);

it('finds the primary through a sentinel, and the new one when it is lost', async () => {
  const { sentinel, primary } = await servers.startWatched('switchhook');
  await startOn(`redis+sentinel://127.0.0.1:${String(sentinel)}/switchhook`);
  await reportAndAwait(50);
  await servers.kill(primary);
  await reportAndAwait(50);
  // Deliveries do not wait for Redis, so the sentinel may not have decided yet.
  const present = async () => {
    const named = await servers.ask(sentinel, 'SENTINEL', 'get-master-addr-by-name', 'switchhook');
    return Number((named as string[])[1]);
  };
  const port = await eventually(present, (now) => now !== primary, { ms: 30_000 });
  await eventually(
    async () => {
      await reportAndAwait(1);
      return (await servers.ask(port, 'KEYS', '*:id')) as string[];
    },
    (keys) => keys.length > 0,
    { ms: 30_000 },
  );
  await reportUntilStreamed();
});
