import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { partitionsOf, pastDeliveries } from '../support/past.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';

const MISSED = { since: new Date(Date.now() - 86_400_000).toISOString(), missed: true };

let database: TestDatabase;
let api: Running;
let environment: Record<string, string>;
let workers: Running[] = [];
let receiver: Receiver;
let customer: Client;
let account: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await partitionsOf(database, 1);
  environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_CONCURRENCY: '10',
    // Short leases, so that the tests need not wait long for a killed worker.
    DELIVERY_TIMEOUT_MS: '2000',
  };
  api = await apiInProcess(environment);
  workers = [await workerInProcess(environment)];
});
afterAll(async () => {
  await Promise.all([api, ...workers].map((running) => running.stop()));
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  customers += 1;
  const user = await createUser(database, `customer-${customers}`);
  account = user.id;
  customer = clientOf(api.url, user.auth);
});
afterEach(() => receiver.close());

const subscribe = (columns: Record<string, unknown> = {}) =>
  aSubscription(database, account, { target_url: receiver.url, ...columns });

/** Stores events of half a day ago, a hundred of each ms, without deliveries. @returns their ids, oldest first */
async function pastEvents(count: number, columns: Record<string, string> = {}): Promise<string[]> {
  const all = { event: `'cdrCreated'`, resource: `'call'`, ...columns };
  const rows = await database.query<{ id: string }>(
    `INSERT INTO events (id, account_id, occurred_at, created_at, data, ${Object.keys(all).join(', ')})
     SELECT new_uuid(at, n), $1, at, at, json_build_object('n', n), ${Object.values(all).join(', ')}
     FROM generate_series(1, $2::integer) n,
       LATERAL (SELECT now() - interval '12 hours' + n / 100 * interval '1 ms' AS at) t
     ORDER BY n RETURNING id`,
    [account, count],
  );
  return rows.map(({ id }) => id);
}

async function count(webhook: string): Promise<object> {
  const answer = await customer.post(`/v1/webhooks/${webhook}/replay`, { ...MISSED, dryRun: true });
  expect(answer.status).toBe(200);
  return answer.json();
}

/** @returns the path of the replay */
async function replay(webhook: string): Promise<string> {
  const answer = await customer.post(`/v1/webhooks/${webhook}/replay`, MISSED);
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return new URL(answer.json<{ href: string }>().href).pathname;
}

const ended = (path: string): Promise<Schemas['Replay']> =>
  eventually(
    async () => (await customer.get(path)).json<Schemas['Replay']>(),
    ({ state }) => state === 'completed',
    { ms: 60_000 },
  );

const toldOf = (webhook: string) =>
  database.query<{ event: string; deliveries: number; state: string }>(
    `SELECT event_id AS event, count(*)::integer AS deliveries, min(state) AS state
     FROM deliveries WHERE webhook_id = $1 GROUP BY 1 ORDER BY 1`,
    [webhook],
  );

it('sends a subscription what it has missed, oldest first and once, but not as a replay', async () => {
  const webhook = await subscribe({ resource: 'call,sms' });
  const events = await pastEvents(3);
  await pastEvents(1, { resource: `'transcription'` });
  await pastEvents(1, { event: `'cdrRated'` });
  await pastEvents(1, { test: 'true' });
  await pastEvents(1, { added: '100' });
  await pastDeliveries(database, webhook, { daysAgo: 0.5 });
  const nothing = { deliveries: 0, now: 0, waiting: {}, leftOut: 0, leftOutFor: {} };
  expect(await count(webhook)).toEqual({ ...nothing, deliveries: 3, now: 3 });
  const path = await replay(webhook);
  expect(await ended(path)).toMatchObject({
    webhookId: webhook,
    missed: true,
    states: [],
    total: 3,
    replayed: 3,
  });
  await receiver.until((received) => received.length === 3);
  const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { data: { n: number } });
  expect(bodies.map(({ data }) => data.n).sort()).toEqual([1, 2, 3]);
  for (const { headers } of receiver.received) {
    expect(headers['webhook-replayed']).toBeUndefined();
  }
  await eventually(
    () => toldOf(webhook),
    (told) => told.length === 4 && told.every(({ state }) => state === 'succeeded'),
  );
  const [shown] = [(await customer.get(`/v1/events/${events[0]!}`)).json<Schemas['EventReport']>()];
  expect(shown.deliveries).toMatchObject([{ webhookId: webhook, eventId: events[0] }]);
  expect(await count(webhook)).toEqual(nothing);
  expect(await ended(await replay(webhook))).toMatchObject({ total: 0, replayed: 0 });
  expect(receiver.received).toHaveLength(3);
});

it('sends nothing twice when workers are killed, and events are sent by hand meanwhile', async () => {
  await workers[0]!.stop();
  const killed = await startWorker(environment);
  workers = [await startWorker(environment)];
  const webhook = await subscribe();
  const events = await pastEvents(3_000);
  const path = await replay(webhook);
  const byHand: string[] = [];
  const sending = (async () => {
    for (const event of events.filter((_, index) => index % 20 === 0)) {
      const answer = await customer.post(`/v1/events/${event}/deliveries`, { webhookId: webhook });
      expect([event, answer.status]).toEqual([event, expect.toBeOneOf([202, 409])]);
      if (answer.status === 202) byHand.push(event);
    }
  })();
  await eventually(
    async () => (await customer.get(path)).json<Schemas['Replay']>(),
    ({ replayed }) => replayed >= 500,
    { ms: 60_000 },
  );
  await killed.kill();
  await sending;
  const { total, replayed } = await ended(path);
  expect(total).toBe(3_000);
  expect(replayed).toBe(3_000 - byHand.length);
  await eventually(
    () => toldOf(webhook),
    (told) => told.every(({ state }) => state === 'succeeded'),
    { ms: 60_000 },
  );
  const told = await toldOf(webhook);
  expect(told.map(({ event }) => event)).toEqual(events);
  expect(told.every(({ deliveries }) => deliveries === 1)).toBe(true);
}, 150_000);
