import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ServiceProcess } from '../support/service-process.js';

type Overview = Schemas['Overview'];

let database: TestDatabase;
let api: ServiceProcess;
let workers: ServiceProcess[];
let receiver: Receiver;
let platform: Client;
let owner: { id: string; auth: string };
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  receiver = await startReceiver();
  [api, ...workers] = await Promise.all([
    startApi(environment),
    startWorker(environment),
    startWorker(environment),
  ]);
  owner = await createUser(database, 'owner');
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  client = clientOf(api.url, owner.auth);
});
afterAll(async () => {
  await Promise.all([api, ...workers].map((one) => one.stop()));
  await receiver.close();
  await database.drop();
});

const until = (isWanted: (shown: Overview) => boolean) =>
  eventually(async () => (await platform.get('/v1/overview')).json<Overview>(), isWanted, {
    ms: 20_000,
  });

it('shows which processes are alive, and forgets one that has stopped', async () => {
  const shown = await until((one) => one.workers.length === 2 && one.apis.length === 1);
  for (const { id, version, isAlive, ...load } of [...shown.workers, ...shown.apis]) {
    expect(load.cpuPercent).toBeGreaterThanOrEqual(0);
    expect(load.memoryBytes).toBeGreaterThan(10_000_000);
    expect(id).toMatch(/^[^:]+:\d+:[0-9a-f]{6}$/);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(isAlive).toBe(true);
  }
  await workers[1]!.stop();
  await until((one) => one.workers.length === 1);
});

it('shows one that was killed as not alive, and one of an earlier version without its load', async () => {
  const id = 'elsewhere:1:abcdef';
  await database.query(
    `INSERT INTO processes (id, kind, version, in_flight, seen_at)
     VALUES ($1, 'worker', '1.0.0', 3, now() - interval '1 minute')`,
    [id],
  );
  const { workers: shown } = await until((one) => one.workers.some((worker) => worker.id === id));
  const killed = shown.find((worker) => worker.id === id);
  expect(killed).toMatchObject({ isAlive: false, inFlight: 3 });
  expect(killed).not.toHaveProperty('cpuPercent');
});

it('shows the backlog, its age, and the targets that fail', async () => {
  const empty = await until((one) => one.pending === 0);
  expect(empty).toMatchObject({ expiredClaims: 0, lookedAt: 0, failing: [] });
  expect(empty).not.toHaveProperty('oldestDueS');
  receiver.answering = (_, response) => response.writeHead(500).end();
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: `${receiver.url}/failing` };
  const { href } = (await client.post('/v1/webhooks', body)).json<{ href: string }>();
  const webhookId = href.split('/').at(-1)!;
  const event = { accountId: owner.id, event: 'cdrCreated', resource: 'call', data: { id: 1 } };
  expect((await platform.post('/v1/events', event)).status).toBe(202);
  const { failing } = await until((one) => one.pending === 1 && one.failing.length === 1);
  expect(failing[0]).toMatchObject({ webhookId, accountId: owner.id, failures: 1, waiting: 1 });
  expect(failing[0]!.targetUrl).toContain('/failing');
  await Promise.all(workers.map((worker) => worker.stop()));
  await database.query(
    `UPDATE deliveries SET next_attempt_at = now() - interval '90 seconds',
       claimed_until = now() - interval '90 seconds' WHERE state = 'pending'`,
  );
  const left = await until((one) => one.expiredClaims === 1);
  expect(left.lookedAt).toBe(1);
  expect(left.oldestDueS).toBeGreaterThanOrEqual(90);
});

it('shows queues, partitions, the retention and the version of the schema', async () => {
  const shown = await until(() => true);
  expect(shown.queues).toEqual([{ waiting: 0, active: 0 }]);
  const today = new Date().toISOString().slice(0, 10);
  const partitions = shown.partitions.find(({ day }) => day === today)!;
  expect(partitions.events).toBeGreaterThan(8_192);
  const nextDay = shown.partitions.at(-1)!.day;
  expect(shown.retention).toEqual({
    days: 30,
    nextDay,
    nextAt: new Date(Date.parse(nextDay) + 32 * 86_400_000).toISOString(),
  });
  expect(shown.schemaVersion).toMatch(/^[A-Z]\w+\d{13}$/);
});

it('is for the platform only', async () => {
  expect((await client.get('/v1/overview')).status).toBe(403);
});
