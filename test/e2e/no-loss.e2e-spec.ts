import { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const EVENTS = 3_000;
const BATCH = 50;

let database: TestDatabase;
let api: Running;
let worker: Running;
let killed: ServiceProcess;
let receiver: Receiver;
let customer: Client;
let platform: Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '200ms,500ms,1s,1s,1s',
    DELIVERY_TIMEOUT_MS: '1000',
  };
  [api, worker, killed] = await Promise.all([
    apiInProcess(environment),
    workerInProcess(environment),
    startWorker(environment),
  ]);
  receiver = await startReceiver();
  const account = await createUser(database, 'customer');
  accountId = account.id;
  customer = clientOf(api.url, account.auth);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
});
afterAll(async () => {
  await Promise.all([api, worker, killed].map((running) => running.stop()));
  await receiver.close();
  await database.drop();
});

it('delivers each of 3,000 events though attempts fail, Redis loses all data and a worker is killed', async () => {
  const created = await customer.post('/v1/webhooks', {
    event: 'cdrCreated',
    resource: 'all',
    targetUrl: receiver.url,
  });
  const [webhook] = (await customer.get('/v1/webhooks')).json<{ id: string }[]>();
  const { secret } = (await customer.get(`/v1/webhooks/${webhook!.id}/secret`)).json<{
    secret: string;
  }>();
  expect(created.status).toBe(200);

  const seen = new Set<string>();
  receiver.answering = ({ id }, response) => {
    // A third of the first attempts fail.
    const fails = !seen.has(id) && Number.parseInt(id.slice(-4), 16) % 3 === 0;
    seen.add(id);
    response.writeHead(fails ? 500 : 200).end();
  };

  const accepted: string[] = [];
  for (let sent = 0; sent < EVENTS; sent += BATCH) {
    const events = Array.from({ length: BATCH }, (_, index) => ({
      id: `cdr-${sent + index}`,
      event: 'cdrCreated',
      resource: 'call',
      accountId,
      data: { number: sent + index },
    }));
    const answer = await platform.post('/v1/events/batch', { events });
    expect(answer.status).toBe(202);
    const { results } = answer.json<{ results: { id: string; deliveries: number }[] }>();
    expect(results.every((result) => result.deliveries === 1)).toBe(true);
    accepted.push(...results.map((result) => result.id));
    if (sent === EVENTS * 0.3) {
      const redis = new Redis(testRedisUrl().toString());
      await redis.flushdb();
      redis.disconnect();
    }
    if (sent === EVENTS * 0.6) await killed.kill();
  }
  expect(new Set(accepted).size).toBe(EVENTS);

  const [counts] = await eventually(
    () =>
      database.query<{ succeeded: number; pending: number }>(
        `SELECT count(*) FILTER (WHERE state = 'succeeded')::int AS succeeded,
           count(*) FILTER (WHERE state = 'pending')::int AS pending FROM deliveries`,
      ),
    ([row]) => row?.pending === 0,
    { ms: 120_000 },
  );
  expect(counts).toEqual({ succeeded: EVENTS, pending: 0 });

  const bodies = new Map<string, string>();
  for (const { id, body, headers } of receiver.received) {
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
    // One id for all attempts, and one body for each id.
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
  const numbers = [...bodies.values()].map(
    (body) => (JSON.parse(body) as { data: { number: number } }).data.number,
  );
  expect(bodies.size).toBe(EVENTS);
  expect(new Set(numbers).size).toBe(EVENTS);
}, 180_000);
