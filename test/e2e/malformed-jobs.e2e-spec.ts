import Bull from 'bull';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { clientOf, send } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

/** Ids of jobs. */
const JOBS = [
  '[object Object]',
  'x'.repeat(100_000),
  ','.repeat(10_000),
  '00000000-0000-0000-0000-000000000000.-1',
  `ffffffff-ffff-ffff-ffff-ffffffffffff.${String(2 ** 40)}`,
  '019a0b1c-2d3e-7f40-8a51-b26c73d84e95.1,x.0,\0',
];

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let receiver: Receiver;
let metrics: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const port = await freePort();
  metrics = `http://127.0.0.1:${port}/metrics`;
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  [api, worker] = await Promise.all([
    startApi(environment),
    startWorker({ ...environment, METRICS_PORT: String(port) }),
  ]);
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

it('malformed jobs neither crash a worker nor delay deliveries', async () => {
  const { id, auth } = await createUser(database, 'customer');
  const platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url };
  expect((await clientOf(api.url, auth).post('/v1/webhooks', body)).status).toBe(200);
  const queue = new Bull('deliveries-0', testRedisUrl().toString(), { prefix: '{switchhook:0}' });
  try {
    for (let round = 0; round < 3; round += 1) {
      for (const id of JOBS) await queue.add('deliver', {}, { jobId: `${id},${String(round)}` });
      await queue.add('something else', { deliveries: [null] });
    }
    const event = { event: 'cdrCreated', resource: 'call', accountId: id, data: {} };
    expect((await platform.post('/v1/events', event)).status).toBe(202);
    await receiver.until(({ length }) => length === 1);
    await eventually(
      () => queue.getJobCounts(),
      ({ waiting, active }) => waiting + active === 0,
      // A job whose answer from Redis came too late is removed a minute later.
      { ms: 90_000 },
    );
  } finally {
    await queue.close();
  }
  const { text } = await send('GET', metrics);
  const dropped = Number(/^switchhook_malformed_jobs_total (\d+)$/m.exec(text)?.[1]);
  expect(dropped).toBeGreaterThan(30_000);
  expect(worker.output()).not.toMatch(/unhandled/i);
});
