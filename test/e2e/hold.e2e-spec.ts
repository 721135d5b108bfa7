import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ServiceProcess } from '../support/service-process.js';

const HOSTS = Array.from({ length: 8 }, (_, index) => `127.0.1.${index + 1}`);

let database: TestDatabase;
let environment: Record<string, string>;
let api: ServiceProcess;
let worker: ServiceProcess;
let receivers: Receiver[];
let platform: Client;
let client: Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  [api, worker] = await Promise.all([startApi(environment), startWorker(environment)]);
  const owner = await createUser(database, 'owner');
  accountId = owner.id;
  client = clientOf(api.url, owner.auth);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  receivers = await Promise.all(
    HOSTS.map((address) => startReceiver((_, response) => response.writeHead(200).end(), address)),
  );
  for (const { url } of receivers) {
    const body = { event: 'cdrCreated', resource: 'all', targetUrl: url };
    expect((await client.post('/v1/webhooks', body)).status).toBe(200);
  }
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await database.drop();
});

const report = async () => {
  const body = { accountId, event: 'cdrCreated', resource: 'call', data: {} };
  expect((await platform.post('/v1/events', body)).status).toBe(202);
};
const deliveries = async (query: string) =>
  (await client.get(`/v1/deliveries?limit=100&${query}`)).json<Schemas['Delivery'][]>();
const health = async () => {
  const answer = await fetch(`${worker.url}/health/ready`);
  return { code: answer.status, ...((await answer.json()) as { hold?: string }) };
};

it('holds deliveries when every host fails at once, says so, and sends all of them afterwards', async () => {
  await report();
  await eventually(
    () => deliveries('state=succeeded'),
    ({ length }) => length === HOSTS.length,
  );
  for (const receiver of receivers) receiver.answering = (_, response) => response.destroy();
  await report();
  await report();

  const held = await eventually(health, ({ hold }) => hold !== undefined);
  expect(held).toMatchObject({ code: 200, status: 'up', hold: 'unreachable' });
  const overview = await eventually(
    async () => (await platform.get('/v1/overview')).json<Schemas['Overview']>(),
    ({ workers }) => workers.some(({ hold }) => hold),
    { ms: 20_000 },
  );
  expect(overview.workers).toMatchObject([{ hold: { cause: 'unreachable' } }]);
  const waiting = await eventually(
    () => deliveries('state=pending'),
    (shown) => shown.filter(({ waitsFor }) => waitsFor === 'hold').length >= 10,
  );
  expect(waiting).toHaveLength(2 * HOSTS.length);
  // Failures of the first two hosts, which are booked: up to two of each.
  const booked = waiting.filter(({ attempts }) => attempts > 0);
  expect(new Set(booked.map(({ webhookId }) => webhookId)).size).toBeLessThanOrEqual(2);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const dryRun = { since, state: 'pending', dryRun: true };
  const counted = (await client.post('/v1/deliveries/send', dryRun)).json<Schemas['ReplayCount']>();
  expect(counted.now).toBe(0);
  expect(counted.waiting.hold).toBeGreaterThan(0);
  // At most one notification a second is sent, each to another host.
  const probed: string[] = [];
  for (const [index, receiver] of receivers.entries()) {
    receiver.answering = (_, response) => {
      probed.push(HOSTS[index]!);
      response.destroy();
    };
  }
  await delay(4_000);
  expect(probed.length).toBeGreaterThan(0);
  expect(probed.length).toBeLessThanOrEqual(5);
  expect(new Set(probed).size).toBe(probed.length);
  const webhooks = (await client.get('/v1/webhooks?scope=all')).json<Schemas['Webhook'][]>();
  expect(webhooks.filter(({ health }) => health?.state === 'open')).toEqual([]);

  // A worker that starts meanwhile has had no answer of any host, but knows which subscriptions had succeeded.
  await worker.stop();
  worker = await startWorker(environment);
  expect(await eventually(health, ({ hold }) => hold !== undefined)).toMatchObject({ code: 200 });
  const rest = await deliveries('state=pending');
  const retried = rest.filter(({ attempts }) => attempts > 0);
  expect(new Set(retried.map(({ webhookId }) => webhookId)).size).toBeLessThanOrEqual(4);

  for (const receiver of receivers) {
    receiver.answering = (_, response) => response.writeHead(200).end();
  }
  const sent = await eventually(
    () => deliveries('state=succeeded'),
    // The others are retried by the schedule.
    ({ length }) => length >= 3 * HOSTS.length - retried.length,
    { ms: 30_000 },
  );
  expect(sent.filter((one) => one.waitsFor)).toEqual([]);
  expect(await health()).not.toHaveProperty('hold');
});
