import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';

const EVENTS = 300;
const SUBSCRIPTIONS = 10;
/** Shorter than a lease: a released delivery does not wait for its lease to expire. */
const SOON_MS = 20_000;

let database: TestDatabase;
let receiver: Receiver;
let api: Running;
let workers: ServiceProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver((_, response) => void setTimeout(() => response.end(), 50));
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  api = await apiInProcess(environment);
  workers = await Promise.all([startWorker(environment), startWorker(environment)]);
});
afterAll(async () => {
  await Promise.all([api, ...workers].map((running) => running.stop()));
  await receiver.close();
  await database.drop();
});

it('under load, stopping a worker sends nothing twice and leaves no delivery to the end of its lease', async () => {
  const { auth } = await createUser(database, 'platform', 'platform');
  const { id } = await createUser(database, 'customer');
  for (let made = 0; made < SUBSCRIPTIONS; made += 1) {
    await aSubscription(database, id, { target_url: receiver.url });
  }
  const events = Array.from({ length: EVENTS }, () => ({
    event: 'cdrCreated',
    resource: 'call',
    accountId: id,
    data: {},
  }));
  expect((await clientOf(api.url, auth).post('/v1/events/batch', { events })).status).toBe(202);
  await receiver.until((received) => received.length > 200);
  expect(receiver.received.length).toBeLessThan((EVENTS * SUBSCRIPTIONS) / 2);
  expect(await workers[0]!.stop()).toBe('exited with code 0');
  await receiver.until((received) => received.length >= EVENTS * SUBSCRIPTIONS, SOON_MS);
  expect(await workers[1]!.stop()).toBe('exited with code 0');
  expect(new Set(receiver.received.map((one) => one.id)).size).toBe(EVENTS * SUBSCRIPTIONS);
  expect(receiver.received).toHaveLength(EVENTS * SUBSCRIPTIONS);
});
