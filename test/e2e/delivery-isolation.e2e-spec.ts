import type { Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { clientOf } from '../support/http.js';
import { apiInProcess, type InProcess, workerInProcess } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import { startRawTarget } from '../support/raw-target.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';

let database: TestDatabase;
let worker: InProcess;
let api: InProcess | undefined;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  // Stopped first: hanging calls would keep the worker from stopping.
  await receiver.close();
  await Promise.all([worker.stop(), api?.stop()]);
  api = undefined;
});

const environmentOf = (change: Record<string, string>) => ({
  DATABASE_URL: database.url,
  DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  ...change,
});

function start(change: Record<string, string> = {}): Promise<InProcess> {
  return workerInProcess(environmentOf(change));
}

const SWITCH_OFF = 'enabled = false, generation = generation + 1, cancelling = true';

async function pendingOf(webhooks: readonly string[]): Promise<number> {
  const [row] = await database.query<{ pending: number }>(
    `SELECT count(*)::int AS pending FROM deliveries
     WHERE webhook_id = ANY ($1) AND state = 'pending'`,
    [webhooks],
  );
  return row?.pending ?? 0;
}

it('sends due deliveries while very many others are being cancelled, and right after', async () => {
  worker = await start();
  const account = await anAccount(database);
  const busy = await aSubscription(database, account, { target_url: receiver.url });
  await database.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
       next_attempt_at, created_at)
     SELECT new_uuid(now(), n), new_uuid(now(), 0), $1, $2, 'cdrCreated', 1,
       now() + interval '1 hour', now()
     FROM generate_series(1, 200000) n`,
    [busy, account],
  );
  const others = await anAccount(database);
  const other = await aSubscription(database, others, { target_url: receiver.url });
  await database.query(`UPDATE webhooks SET ${SWITCH_OFF}, updated_at = now() WHERE id = $1`, [
    busy,
  ]);
  const deliverOne = async (): Promise<void> => {
    const before = receiver.received.length;
    await aPendingDelivery(database, other);
    await receiver.until((received) => received.length === before + 1);
  };
  let meanwhile = 0;
  for (; (await pendingOf([busy])) > 0; meanwhile += 1) await deliverOne();
  // Cancelling takes seconds also on a fast machine; finding due deliveries takes one at most.
  expect(meanwhile).toBeGreaterThan(2);
  await deliverOne();
});

it('cancels the deliveries of a hundred subscriptions that are disabled together', async () => {
  worker = await start();
  const account = await anAccount(database);
  const webhooks: string[] = [];
  for (let made = 0; made < 100; made += 1) {
    const webhook = await aSubscription(database, account, { target_url: receiver.url });
    await aPendingDelivery(database, webhook, {
      next_attempt_at: new Date(Date.now() + 3_600_000),
    });
    webhooks.push(webhook);
  }
  await database.query(
    `UPDATE webhooks SET ${SWITCH_OFF}, updated_at = now() WHERE id = ANY ($1)`,
    [webhooks],
  );
  await eventually(
    () => pendingOf(webhooks),
    (pending) => pending === 0,
  );
});

it('cancels a delivery that was still being stored while its subscription was deleted', async () => {
  worker = await start();
  const webhook = await aSubscription(database, await anAccount(database), {
    target_url: receiver.url,
    updated_at: new Date(Date.now() - 3_600_000),
  });
  await database.query(
    `UPDATE webhooks SET generation = 2, cancelling = true, deleted_at = now() WHERE id = $1`,
    [webhook],
  );
  // Longer than the canceller takes to find nothing to cancel.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await aPendingDelivery(database, webhook, { generation: 1 });
  await eventually(
    () => pendingOf([webhook]),
    (pending) => pending === 0,
  );
  expect(receiver.received).toHaveLength(0);
});

it("never exceeds the worker's limit of calls in flight, whatever the number of shards", async () => {
  worker = await start({ WORKER_CONCURRENCY: '8', QUEUE_SHARDS: '4', DELIVERY_TIMEOUT_MS: '2000' });
  let inFlight = 0;
  let most = 0;
  receiver.answering = (_, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.end();
    }, 300);
  };
  for (let made = 0; made < 40; made += 1) {
    const account = await anAccount(database);
    await aPendingDelivery(
      database,
      await aSubscription(database, account, { target_url: receiver.url }),
    );
  }
  await receiver.until((received) => received.length === 40);
  expect(most).toBeLessThanOrEqual(8);
});

it('gives a subscription all of its calls after a worker was killed during some of them', async () => {
  worker = await start({ DELIVERY_CONCURRENCY: '4' });
  const killed = await startWorker(environmentOf({ DELIVERY_CONCURRENCY: '4' }));
  const hanging: (() => void)[] = [];
  receiver.answering = (_, response) => void hanging.push(() => response.end());
  const webhook = await aSubscription(database, await anAccount(database), {
    target_url: receiver.url,
    backlog: true,
  });
  for (let made = 0; made < 40; made += 1) await aPendingDelivery(database, webhook);
  // Each worker starts with one call.
  await receiver.until((received) => received.length === 2);
  await killed.kill();
  // Until its missing heartbeat is noticed, long before its leases expire.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  receiver.answering = (_, response) => response.end();
  for (const answer of hanging) answer();
  // All except one that waited in the killed worker.
  await receiver.until((received) => received.length >= 39, 15_000);
});

it('delivers to a healthy target beside one that hangs in the same shard', async () => {
  worker = await start({ WORKER_CONCURRENCY: '8', QUEUE_SHARDS: '8' });
  receiver.answering = ({ path }, response) => {
    if (path === '/healthy') response.end();
  };
  const account = await anAccount(database);
  const of = (path: string, id: number) =>
    aSubscription(database, account, { id, target_url: `${receiver.url}/${path}` });
  const [hanging, healthy] = [await of('hangs', 800_000), await of('healthy', 800_008)];
  for (let made = 0; made < 10; made += 1) await aPendingDelivery(database, hanging);
  await receiver.until((received) => received.length >= 2);
  await aPendingDelivery(database, healthy);
  await receiver.until((received) => received.some(({ path }) => path === '/healthy'), 10_000);
});

it('delivers to a healthy target beside nine of the same account that hang', async () => {
  worker = await start();
  api = await apiInProcess(environmentOf({}));
  receiver.answering = ({ path }, response) => {
    if (path === '/healthy') response.end();
  };
  const { auth } = await createUser(database, 'reporter', 'platform');
  const accountId = await anAccount(database);
  for (const path of ['healthy', ...Array.from({ length: 9 }, (_, n) => `hangs-${n}`)]) {
    await aSubscription(database, accountId, { target_url: `${receiver.url}/${path}` });
  }
  const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
  const events = Array.from({ length: 100 }, () => event);
  const answer = await clientOf(api.url, auth).post('/v1/events/batch', { events });
  expect(answer.status).toBe(202);
  await receiver.until(
    (received) => received.filter(({ path }) => path === '/healthy').length === 100,
    // Less than the timeout of the hanging calls.
    10_000,
  );
});

it('delivers while the queue is full, and sends a test at once', async () => {
  worker = await start();
  api = await apiInProcess(environmentOf({}));
  const redis = new Redis(testRedisUrl().toString());
  // Jobs that a worker holds, as far as the queue knows: each counts as a full job.
  const active = '{switchhook:0}:deliveries-0:active';
  await redis.lpush(active, ...Array.from({ length: 600 }, () => 'of-nobody'));
  const { id, auth } = await createUser(database, 'impatient');
  const webhook = await aSubscription(database, id, { target_url: receiver.url });
  const customer = clientOf(api.url, auth);
  expect((await customer.post(`/v1/webhooks/${webhook}/test`)).status).toBe(202);
  await receiver.until((received) => received.length === 1, 2_000);
  // A test that did not reach the queue, as during an outage of Redis, and a delivery.
  const left = await aPendingDelivery(database, webhook);
  await database.query('UPDATE deliveries SET immediate = true WHERE id = $1', [left]);
  await aPendingDelivery(database, webhook);
  // The queue stays full meanwhile. After its first scan, which is slow, a worker rests for seconds.
  await receiver.until((received) => received.length === 3, 10_000);
  await redis.del(active);
  redis.disconnect();
});

it('uses no connection to a target for notifications of two accounts', async () => {
  worker = await start();
  const target = await startRawTarget();
  try {
    const accountsOn = new Map<Socket, Set<string | undefined>>();
    target.answering = (socket) => {
      const [, account] = /"accountId":"(\d+)"/.exec(target.requests.at(-1)!) ?? [];
      accountsOn.set(socket, (accountsOn.get(socket) ?? new Set()).add(account));
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    };
    const accounts = [await anAccount(database), await anAccount(database)];
    const subscriptions = await Promise.all(
      accounts.map((account) => aSubscription(database, account, { target_url: target.url })),
    );
    for (const subscription of [...subscriptions, ...subscriptions]) {
      const before = target.requests.length;
      await aPendingDelivery(database, subscription);
      await eventually(
        () => target.requests.length,
        (requests) => requests > before,
      );
    }
    const served = [...accountsOn.values()].map((each) => [...each]);
    expect(served.filter(({ length }) => length !== 1)).toEqual([]);
    expect(new Set(served.flat())).toEqual(new Set(accounts));
  } finally {
    target.close();
  }
});
