import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { launch, startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

interface Numbered {
  data: { number: number };
}

let database: TestDatabase;
let postgres: TcpProxy;
let redis: TcpProxy;
let receiver: Receiver;
let accountId: string;
let auth: string;
let running: Running[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const account = await createUser(database, 'customer');
  accountId = account.id;
  ({ auth } = await createUser(database, 'platform', 'platform'));
  receiver = await startReceiver();
  const body = { event: 'smsdlr', resource: 'all', targetUrl: receiver.url };
  const api = await apiInProcess({
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  expect((await clientOf(api.url, account.auth).post('/v1/webhooks', body)).status).toBe(200);
  await api.stop();
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answering = (_, response) => response.end();
  [postgres, redis] = await Promise.all([
    proxyTo(database.url),
    proxyTo(testRedisUrl().toString()),
  ]);
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  await Promise.all([postgres.close(), redis.close()]);
});

function environment(change: Record<string, string> = {}) {
  return {
    DATABASE_URL: postgres.address,
    REDIS_URL: redis.address,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_TIMEOUT_MS: '1000',
    ...change,
  };
}

/** @returns a client of the first, and all of them */
async function start<Started extends Running[]>(
  ...starting: { [Index in keyof Started]: Promise<Started[Index]> }
): Promise<[Client, ...Started]> {
  const started = await Promise.all(starting);
  running = [...started];
  return [clientOf(running[0]!.url, auth), ...started] as [Client, ...Started];
}

function event(number: number) {
  return {
    id: `e-${number}-${accountId}-${receiver.url}`,
    event: 'smsdlr',
    resource: 'sms',
    accountId,
    data: { number },
  };
}

/** The numbers of the received events, including those of earlier tests. */
function numbers(): number[] {
  return receiver.received.map(({ body }) => (JSON.parse(body) as Numbered).data.number);
}

async function ready({ url }: Running) {
  const answer = await send('GET', `${url}/health/ready`);
  return { status: answer.status, ...answer.json() };
}

it('accepts and delivers events while Redis is down, and goes on when it is back', async () => {
  const [client, api, worker] = await start(startApi(environment()), startWorker(environment()));
  const messages = (process: typeof api) => process.output().match(/Redis is \w+/g);
  redis.down();
  await eventually(
    () => messages(api),
    (found) => found !== null,
  );
  for (let number = 0; number < 20; number += 1) {
    expect((await client.post('/v1/events', event(number))).status).toBe(202);
  }
  expect(await ready(api)).toMatchObject({ status: 'up', redis: 'down', postgres: 'up' });
  expect((await send('GET', `${worker.url}/health/ready`)).status).toBe(503);
  await receiver.until(() => new Set(numbers()).size >= 20);
  redis.up();
  for (const process of [api, worker]) {
    await eventually(
      () => messages(process),
      (found) => found?.length === 2,
    );
    expect(messages(process)).toEqual(['Redis is away', 'Redis is back']);
    expect(process.log().find(({ msg }) => msg === 'Redis is away')).toHaveProperty('err.message');
  }
});

it('logs why it cannot connect to Redis', async () => {
  const address = testRedisUrl();
  Object.assign(address, { username: 'nobody', password: 'wrong-password' });
  const change = { REDIS_URL: address.toString() };
  const [, api] = await start(startApi(environment(change)));
  const worker = await launch('worker', environment(change));
  running.push(worker);
  for (const process of [api, worker]) {
    const away = () => process.log().find(({ msg }) => msg === 'Redis is away');
    await eventually(away);
    expect(away()).toMatchObject({
      err: { message: expect.stringContaining('WRONGPASS') as string },
    });
    expect(process.output()).not.toContain('wrong-password');
  }
});

it('delivers at once the jobs that were queued while a worker had no connection to Redis', async () => {
  const patient = { DELIVERY_TIMEOUT_MS: '15000' };
  const direct = { ...patient, REDIS_URL: testRedisUrl().toString() };
  const [client] = await start(
    apiInProcess(environment(direct)),
    workerInProcess(environment(patient)),
  );
  for (let round = 1; round <= 5; round += 1) {
    redis.down();
    const events = Array.from({ length: 200 }, (_, number) => event(round * 10_000 + number));
    expect((await client.post('/v1/events/batch', { events })).status).toBe(202);
    // Its connections retry at different times.
    await new Promise((resolve) => setTimeout(resolve, round * 300));
    redis.up();
    // Long before the leases expire.
    await receiver.until(() => new Set(numbers()).size >= round * 200, 10_000);
  }
});

it('starts, accepts events and stops without any Redis', async () => {
  const nowhere = { REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
  const [client, api] = await start(startApi(environment(nowhere)));
  expect((await client.post('/v1/events', event(100))).status).toBe(202);
  expect(await api.stop()).toBe('exited with code 0');
});

it('stops in time while Redis is down', async () => {
  const [, worker] = await start(startWorker(environment()));
  redis.down();
  expect(await worker.stop()).toBe('exited with code 0');
});

it('delivers again once a Redis that silently stopped responding is back', async () => {
  const [client] = await start(apiInProcess(environment()), workerInProcess(environment()));
  expect((await client.post('/v1/events', event(300))).status).toBe(202);
  await receiver.until(() => numbers().includes(300));
  redis.freeze();
  expect((await client.post('/v1/events', event(301))).status).toBe(202);
  await receiver.until(() => numbers().includes(301), 50_000);
});

it('obeys a 410 even if PostgreSQL was down when it came', async () => {
  await start(workerInProcess(environment()));
  receiver.answering = ({ path }, response) => {
    if (path !== '/gone') return void response.end();
    postgres.down();
    response.writeHead(410).end();
    setTimeout(() => postgres.up(), 1_500);
  };
  const account = await anAccount(database);
  const webhook = await aSubscription(database, account, { target_url: `${receiver.url}/gone` });
  await aPendingDelivery(database, webhook);
  await eventually(
    () =>
      database.query<{ state: string; reason: string; enabled: boolean }>(
        `SELECT state, reason, enabled FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
         WHERE w.id = $1`,
        [webhook],
      ),
    ([row]) => row?.state === 'exhausted' && row.reason === 'gone' && !row.enabled,
  );
  // Jobs that earlier tests left in the queue may arrive as well.
  expect(receiver.received.filter(({ path }) => path === '/gone')).toHaveLength(1);
});

it('answers 503 with Retry-After while PostgreSQL is down, and recovers automatically', async () => {
  const [client, api, worker] = await start(startApi(environment()), startWorker(environment()));
  expect((await client.post('/v1/events', event(200))).status).toBe(202);
  postgres.down();
  const answer = await client.post('/v1/events', event(201));
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('5');
  expect(answer.json()).toMatchObject({ code: 'unavailable' });
  expect((await send('GET', `${api.url}/health/ready`)).status).toBe(503);
  expect((await send('GET', `${api.url}/health/live`)).status).toBe(200);
  const requestId = answer.headers['x-request-id'];
  const failures = api.log().filter((line) => line.msg === 'request failed');
  expect(failures).toMatchObject([{ level: 'error', requestId }]);
  expect(JSON.stringify(failures)).not.toContain('stack');
  const loggedLines = () => Promise.resolve(worker.output().match(/PostgreSQL is \w+/g) ?? []);
  await eventually(loggedLines, (lines) => lines.length > 0);
  postgres.up();
  await eventually(
    () => client.post('/v1/events', event(201)),
    ({ status }) => status === 202,
  );
  await receiver.until(() => [200, 201].every((number) => numbers().includes(number)));
  // A task that failed slowly pauses before its next run.
  const both = await eventually(loggedLines, (lines) => lines.length > 1, { ms: 45_000 });
  expect(both).toEqual(['PostgreSQL is away', 'PostgreSQL is back']);
});

it('logs equal failures once a second while PostgreSQL is down, and none of their requests', async () => {
  const [client, api] = await start(startApi(environment()));
  postgres.down();
  await eventually(
    () => client.post('/v1/events', event(250)),
    ({ status }) => status === 503,
  );
  const failures = () =>
    api.log().filter((line) => line.msg === 'request failed') as { count?: number }[];
  const failed = () => failures().reduce((sum, { count = 1 }) => sum + count, 0);
  const before = await eventually(failed, (count) => count > 0);
  const linesBefore = failures().length;
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, number) => client.post('/v1/events', event(251 + number))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await eventually(failed, (count) => count === before + 100);
  expect(failures().length - linesBefore).toBeLessThan(10);
  expect(api.log().filter((line) => line.msg === 'request' && line['status'] === 503)).toEqual([]);
  postgres.up();
});

it('gives up on a PostgreSQL that does not answer, and recovers when it does', async () => {
  const [client] = await start(apiInProcess(environment()));
  expect((await client.post('/v1/events', event(300))).status).toBe(202);
  postgres.freezeAll();
  expect((await client.post('/v1/events', event(301))).status).toBe(503);
  postgres.down();
  postgres.up();
  await eventually(
    () => client.post('/v1/events', event(301)),
    ({ status }) => status === 202,
  );
});

it('finishes calls in flight when it is told to stop, and leaves the rest to other workers', async () => {
  const slow = environment({ DELIVERY_CONCURRENCY: '10', DELIVERY_TIMEOUT_MS: '5000' });
  const [client, , worker] = await start(apiInProcess(slow), startWorker(slow));
  receiver.answering = (_, response) => void setTimeout(() => response.end(), 300);
  const events = Array.from({ length: 200 }, (_, number) => event(1_000 + number));
  expect((await client.post('/v1/events/batch', { events })).status).toBe(202);
  await receiver.until((received) => received.length > 10);
  expect(await worker.stop()).toBe('exited with code 0');
  running.push(await workerInProcess(slow));
  const [row] = await eventually(
    () =>
      database.query<{ pending: number }>(
        `SELECT count(*)::int AS pending FROM deliveries WHERE state = 'pending'`,
      ),
    ([counted]) => counted?.pending === 0,
    { ms: 60_000 },
  );
  expect(row?.pending).toBe(0);
  // None was sent twice: an orderly stop loses no answer.
  expect(numbers().filter((number) => number >= 1_000)).toHaveLength(200);
});
