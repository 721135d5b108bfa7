import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { partitionsOf, type Past, pastDeliveries } from '../support/past.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aPendingDelivery, aSubscription } from '../support/rows.js';

type Replay = Schemas['Replay'];

/** The approximate creation time of the deliveries that these tests replay. */
const HALF_A_DAY = 0.5;
const SINCE = { since: new Date(Date.now() - 86_400_000).toISOString() };
const LONG_AGO = { since: '2000-01-01T00:00:00Z', until: '2000-01-02T00:00:00Z' };
const EXHAUSTED = { state: `'exhausted'`, reason: `'no_attempts_left'`, completed_at: 'now()' };

let database: TestDatabase;
let api: Running;
let environment: Record<string, string>;
let workers: Running[] = [];
let receiver: Receiver;
let customer: Client;
let stranger: Client;
let platform: Client;
let account: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await partitionsOf(database, 1);
  environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms,50ms',
    DELIVERY_CONCURRENCY: '10',
    // Short leases, so that the tests need not wait long for a killed worker.
    DELIVERY_TIMEOUT_MS: '2000',
  };
  api = await apiInProcess(environment);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
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

const past = (webhook: string, given: Partial<Past> = {}) =>
  pastDeliveries(database, webhook, { daysAgo: HALF_A_DAY, columns: EXHAUSTED, ...given });

/** @returns the path of the replay */
async function replay(webhook: string, body: object = {}): Promise<string> {
  const answer = await customer.post(`/v1/webhooks/${webhook}/replay`, { ...SINCE, ...body });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  const { href } = answer.json<{ href: string }>();
  expect(answer.headers.location).toBe(href);
  return new URL(href).pathname;
}

async function count(webhook: string, body: object = {}): Promise<number> {
  const dry = { ...SINCE, ...body, dryRun: true };
  const answer = await customer.post(`/v1/webhooks/${webhook}/replay`, dry);
  expect([answer.status, answer.headers.location]).toEqual([200, undefined]);
  return answer.json<{ deliveries: number }>().deliveries;
}

const shown = async (path: string): Promise<Replay> => (await customer.get(path)).json<Replay>();

const ended = (path: string, state = 'completed', ms = 45_000): Promise<Replay> =>
  eventually(
    () => shown(path),
    (replay) => replay.state === state,
    { ms },
  );

const receivedIds = () => receiver.received.map(({ id }) => id);

async function states(webhook: string): Promise<Record<string, number>> {
  const rows = await database.query<{ state: string; n: number }>(
    'SELECT state, count(*)::integer AS n FROM deliveries WHERE webhook_id = $1 GROUP BY 1',
    [webhook],
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

it('sends failed deliveries again, with their ids, signed and marked on every attempt', async () => {
  const webhook = await subscribe();
  const exhausted = await past(webhook, { count: 3 });
  const cancelled = await past(webhook, {
    columns: { ...EXHAUSTED, state: `'cancelled'`, reason: `'disabled'` },
  });
  await past(webhook, { columns: { completed_at: 'now()' } });
  await past(webhook, { test: true });
  await past(await subscribe());
  const attempts = new Map<string, number>();
  receiver.answering = ({ id }, response) => {
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    response.writeHead(attempts.get(id) === 1 ? 500 : 200).end();
  };
  const path = await replay(webhook);
  const id = path.split('/').at(-1);
  const done = await ended(path);
  expect(done).toEqual({
    id,
    href: `${api.url}${path}`,
    webhookId: webhook,
    since: SINCE.since,
    until: expect.any(String) as string,
    states: ['exhausted', 'cancelled'],
    state: 'completed',
    total: 4,
    replayed: 4,
    now: expect.any(Number) as number,
    waiting: expect.any(Object) as object,
    ...{ leftOut: 1, leftOutFor: { test: 1 } },
    createdAt: expect.any(String) as string,
    completedAt: expect.any(String) as string,
  });
  const ids = [...exhausted, ...cancelled].sort();
  await receiver.until((received) => received.length === 8);
  await eventually(
    () => states(webhook),
    ({ succeeded }) => succeeded === 5,
  );
  expect(receivedIds().sort()).toEqual([...ids, ...ids].sort());
  const secret = (await customer.get(`/v1/webhooks/${webhook}/secret`)).json<{ secret: string }>();
  const verifier = new Webhook(secret.secret);
  for (const { headers, body } of receiver.received) {
    expect(headers['webhook-replayed']).toBe('true');
    verifier.verify(body, headers as Record<string, string>);
  }
  const delivery = (await customer.get(`/v1/deliveries/${ids[0]!}`)).json<Schemas['Delivery']>();
  expect(delivery).toMatchObject({ state: 'succeeded', attempts: 3 });
  expect(delivery).not.toHaveProperty('reason');
  // A delivery that is redelivered alone is no replay.
  await customer.post(`/v1/deliveries/${ids[0]!}/redeliver`);
  await receiver.until((received) => received.length === 9);
  expect(receiver.received[8]?.headers['webhook-replayed']).toBeUndefined();
});

it('keeps to the requested time and states, and only counts in a dry run', async () => {
  const webhook = await subscribe();
  const [, second, third] = await past(webhook, { count: 3, columns: {} });
  await past(webhook, { count: 2 });
  const madeAt = async (id: string | undefined) =>
    (await customer.get(`/v1/deliveries/${id!}`)).json<{ createdAt: string }>().createdAt;
  const range = { since: await madeAt(second), until: await madeAt(third) };
  const succeeded = { states: ['succeeded'] };
  expect(await count(webhook)).toBe(2);
  expect(await count(webhook, succeeded)).toBe(3);
  expect(await count(webhook, { states: ['succeeded', 'exhausted'] })).toBe(5);
  expect(await count(webhook, { states: ['cancelled'] })).toBe(0);
  expect(await count(webhook, { ...range, ...succeeded })).toBe(1);
  expect(await database.query('SELECT FROM replays WHERE webhook_id = $1', [webhook])).toEqual([]);
  const none = await ended(await replay(webhook, LONG_AGO));
  expect(none).toMatchObject({ total: 0, replayed: 0 });
  expect(await ended(await replay(webhook, { ...range, ...succeeded }))).toMatchObject({
    ...range,
    states: ['succeeded'],
    total: 1,
    replayed: 1,
  });
  await receiver.until((received) => received.length > 0);
  expect(receivedIds()).toEqual([second]);
});

it('treats an end in the future as now', async () => {
  const webhook = await subscribe();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { until: stored, createdAt } = await ended(await replay(webhook, { until }));
  expect(Date.parse(stored)).toBeLessThanOrEqual(Date.parse(createdAt));
});

it('shows a replay only to the owner of the subscription', async () => {
  const webhook = await subscribe();
  await past(webhook);
  const path = await replay(webhook);
  await ended(path);
  for (const client of [stranger, platform]) {
    expect((await client.post(`/v1/webhooks/${webhook}/replay`, SINCE)).status).toBe(404);
    expect((await client.get(path)).status).toBe(404);
    expect((await client.post(`${path}/cancel`)).status).toBe(404);
  }
  expect((await customer.get('/v1/replays/nonsense')).status).toBe(404);
  expect((await customer.post('/v1/replays/1/cancel')).status).toBe(404);
});

it('refuses a replay with every fault, and one of a subscription that is disabled', async () => {
  const webhook = await subscribe({ enabled: false });
  const address = `/v1/webhooks/${webhook}/replay`;
  const faulty = await customer.post(address, { since: 'now', states: ['pending'], dryRun: 1 });
  expect(faulty.status).toBe(400);
  expect(faulty.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field)).toEqual([
    'since',
    '/states/0',
    'dryRun',
  ]);
  for (const body of [SINCE, { ...SINCE, dryRun: true }]) {
    const off = await customer.post(address, body);
    expect([off.status, off.json()['code']]).toEqual([409, 'subscription_inactive']);
  }
});

it('refuses a replay while ten of the subscription are running', async () => {
  const webhook = await subscribe({ paused: true });
  const paths: string[] = [];
  for (let n = 0; n < 10; n += 1) paths.push(await replay(webhook));
  const address = `/v1/webhooks/${webhook}/replay`;
  const refused = await customer.post(address, SINCE);
  expect([refused.status, refused.json()['code']]).toEqual([409, 'replay_limit_reached']);
  await replay(await subscribe({ paused: true }));
  await customer.post(`${paths[0]}/cancel`);
  expect((await customer.post(address, SINCE)).status).toBe(202);
});

it('starts at most twenty replays in an hour for each subscription', async () => {
  const webhook = await subscribe();
  for (let n = 0; n < 20; n += 1) await ended(await replay(webhook));
  const address = `/v1/webhooks/${webhook}/replay`;
  const refused = await customer.post(address, SINCE);
  expect([refused.status, refused.json()['code']]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
  expect((await customer.post(address, { ...SINCE, dryRun: true })).status).toBe(200);
  await ended(await replay(await subscribe()));
});

it('waits while the subscription is paused, and can be cancelled repeatedly', async () => {
  const webhook = await subscribe({ paused: true });
  await past(webhook, { count: 2 });
  const path = await replay(webhook);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await shown(path)).toMatchObject({ state: 'running', total: 2, replayed: 0 });
  for (let times = 0; times < 2; times += 1) {
    const answer = await customer.post(`${path}/cancel`);
    expect([answer.status, answer.json()]).toEqual([200, { href: `${api.url}${path}` }]);
  }
  await database.query('UPDATE webhooks SET paused = false WHERE id = $1', [webhook]);
  const next = await replay(webhook);
  await ended(next);
  const finished = await customer.post(`${next}/cancel`);
  expect([finished.status, finished.json()['code']]).toEqual([409, 'replay_finished']);
  expect(await shown(path)).toMatchObject({ state: 'cancelled', replayed: 0 });
  await receiver.until((received) => received.length === 2);
});

it('ends a replay when the subscription is disabled, even if it is enabled again at once', async () => {
  const [off, deleted] = [await subscribe({ paused: true }), await subscribe({ paused: true })];
  await past(off);
  await past(deleted);
  const paths = [await replay(off), await replay(deleted)] as const;
  await customer.put(`/v1/webhooks/${off}`, { enabled: false });
  await customer.put(`/v1/webhooks/${off}`, { enabled: true });
  await customer.delete(`/v1/webhooks/${deleted}`);
  for (const path of paths) await ended(path, 'cancelled', 3_000);
});

it('includes pending deliveries that are about to be cancelled', async () => {
  const webhook = await subscribe();
  const later = new Date(Date.now() + 3_600_000);
  const pending = await aPendingDelivery(database, webhook, { next_attempt_at: later });
  const lease = `UPDATE deliveries SET claimed_until = now() + interval '4 s' WHERE id = $1`;
  await database.query(lease, [pending]);
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: false });
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: true });
  expect(await count(webhook)).toBe(1);
  expect(await ended(await replay(webhook))).toMatchObject({ total: 1, replayed: 1 });
  await receiver.until((received) => received.length === 1);
});

it('runs one replay per subscription at a time, concurrently with replays of other subscriptions', async () => {
  const [webhook, other] = [await subscribe(), await subscribe()];
  await past(webhook, { count: 4_000 });
  await past(other);
  receiver.answering = (_, response) => void setTimeout(() => response.end(), 100);
  const [first, second] = [await replay(webhook), await replay(webhook, { states: ['succeeded'] })];
  await ended(await replay(other));
  expect((await shown(first)).state).toBe('running');
  expect(await shown(second)).toMatchObject({ state: 'running', replayed: 0 });
  await customer.post(`${first}/cancel`);
  const { replayed, total } = await ended(first, 'cancelled');
  expect(replayed).toBeLessThan(total);
  await ended(second);
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: false });
});

it('counts an attempt that is still in flight as the first one', async () => {
  const webhook = await subscribe({ retry: { timeoutMs: 20_000 } });
  let answer = (): void => undefined;
  receiver.answering = (_, response) => {
    answer = () => response.end();
  };
  const id = await aPendingDelivery(database, webhook);
  await receiver.until((received) => received.length === 1);
  expect((await customer.post(`/v1/deliveries/${id}/cancel`)).status).toBe(200);
  expect(await ended(await replay(webhook))).toMatchObject({ replayed: 1 });
  // Longer than a worker takes to find due deliveries.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(receiver.received).toHaveLength(1);
  answer();
  await eventually(
    () => states(webhook),
    (now) => now.succeeded === 1,
  );
});

it('continues where it stopped when its worker is killed', async () => {
  await workers[0]!.stop();
  const killed = await startWorker(environment);
  const webhook = await subscribe();
  const ids = await past(webhook, { count: 3_000 });
  const path = await replay(webhook);
  await eventually(
    () => shown(path),
    ({ replayed }) => replayed >= 1_000,
  );
  await killed.kill();
  const { state, replayed } = await shown(path);
  expect(state).toBe('running');
  expect(replayed).toBeLessThan(3_000);
  workers = [await workerInProcess(environment)];
  expect(await ended(path, 'completed', 60_000)).toMatchObject({ total: 3_000, replayed: 3_000 });
  await eventually(
    () => states(webhook),
    ({ succeeded }) => succeeded === ids.length,
    { ms: 60_000 },
  );
  expect(new Set(receivedIds())).toEqual(new Set(ids));
}, 120_000);

it('sends 3,000 once each through two workers, within the limits of the target', async () => {
  workers.push(await startWorker(environment));
  const webhook = await subscribe();
  const ids = await past(webhook, { count: 3_000 });
  let now = 0;
  let most = 0;
  receiver.answering = (_, response) => {
    now += 1;
    most = Math.max(most, now);
    setTimeout(() => {
      now -= 1;
      response.end();
    }, 2);
  };
  const path = await replay(webhook);
  const waiting = () =>
    database.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM deliveries WHERE webhook_id = $1 AND state = 'pending'`,
      [webhook],
    );
  let mostWaiting = 0;
  await eventually(
    async () => {
      mostWaiting = Math.max(mostWaiting, (await waiting())[0]?.n ?? 0);
      return shown(path);
    },
    ({ state }) => state === 'completed',
    { ms: 150_000 },
  );
  await receiver.until((received) => received.length >= ids.length, 30_000);
  expect(await shown(path)).toMatchObject({ total: 3_000, replayed: 3_000 });
  expect(receivedIds().sort()).toEqual(ids.sort());
  expect(most).toBeLessThanOrEqual(20);
  // Deliveries of a concurrent batch, and calls in flight.
  expect(mostWaiting).toBeLessThanOrEqual(1_500);
  await eventually(
    () => states(webhook),
    ({ succeeded }) => succeeded === ids.length,
  );
}, 200_000);
