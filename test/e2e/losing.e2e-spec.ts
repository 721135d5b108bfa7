import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const EVENTS = 30;
/** Counts of attempts and successes are stored every ten seconds. */
const STORED = { ms: 25_000 };

interface Shown {
  id: string;
  health?: { state: string; since?: string; lost?: number; lastLostAt?: string };
  activity?: { succeeded: number; failed: number; lastSuccessAt?: string };
}

let database: TestDatabase;
let processes: Running[];
let receiver: Receiver;
let customer: Client;
let platform: Client;
let accountId: string;
/** The status of the answer, by how many came before. */
let statusOf: (number: number) => number;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '',
  };
  const api = await apiInProcess(environment);
  processes = [api, await startWorker(environment)];
  const account = await createUser(database, 'customer');
  accountId = account.id;
  customer = clientOf(api.url, account.auth);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
  let answered = 0;
  receiver = await startReceiver((_, response) => {
    response.writeHead(statusOf(answered)).end();
    answered += 1;
  });
});
afterAll(async () => {
  await Promise.all(processes.map((running) => running.stop()));
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query(
    'UPDATE webhooks SET deleted_at = now(), enabled = false, generation = generation + 1',
  );
  receiver.received.length = 0;
});

async function subscribe(): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url };
  const { href } = (await customer.post('/v1/webhooks', body)).json<{ href: string }>();
  return new URL(href).pathname;
}

async function report(count: number): Promise<void> {
  const one = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
  const events = Array.from({ length: count }, () => one);
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
}

const shown = async (path: string): Promise<Shown> =>
  (await customer.get(`${path}?include=activity`)).json<Shown>();
const listed = async (): Promise<Shown[]> =>
  (await customer.get('/v1/webhooks?include=activity')).json<Shown[]>();
const overview = async () =>
  (await platform.get('/v1/overview')).json<{ losing: { webhookId: string; lost: number }[] }>();

it('says how many notifications a subscription has lost whose target fails every other time', async () => {
  statusOf = (number) => (number % 2 === 0 ? 500 : 200);
  const started = Date.now();
  const webhook = await subscribe();
  await report(EVENTS);
  const { health, id } = await eventually(
    () => shown(webhook),
    (one) => one.health?.lost === EVENTS / 2,
    STORED,
  );
  expect(health).toMatchObject({ state: 'losing' });
  expect(Date.parse(health!.lastLostAt!)).toBeGreaterThanOrEqual(started - 1_000);
  expect(await listed()).toMatchObject([{ id, health: { state: 'losing', lost: EVENTS / 2 } }]);
  const { losing } = await eventually(overview, (one) => one.losing.length > 0);
  expect(losing).toMatchObject([{ webhookId: id, lost: EVENTS / 2 }]);
  const { activity } = await eventually(
    () => shown(webhook),
    (one) => one.activity?.lastSuccessAt !== undefined,
    STORED,
  );
  expect(Date.parse(activity!.lastSuccessAt!)).toBeGreaterThanOrEqual(started - 1_000);
});

it('has no last success before the first one, and is not losing because of a failed test', async () => {
  statusOf = () => 500;
  const webhook = await subscribe();
  const { activity } = await shown(webhook);
  expect(activity).not.toHaveProperty('lastSuccessAt');
  const test = (await customer.post(`${webhook}/test`, {})).json<{ href: string }>();
  const { pathname } = new URL(test.href);
  const delivery = async () => (await customer.get(pathname)).json<{ state: string }>();
  await eventually(delivery, ({ state }) => state === 'exhausted');
  await eventually(
    () => shown(webhook),
    (one) => one.activity?.failed === 1,
    STORED,
  );
  expect((await shown(webhook)).health).toEqual({ state: 'ok' });
  statusOf = () => 200;
  await report(1);
  const well = await eventually(
    () => shown(webhook),
    (one) => one.activity?.lastSuccessAt !== undefined,
  );
  expect(well.health).toEqual({ state: 'ok' });
});

it('counts what the service cancels, and not what the customer cancels', async () => {
  statusOf = () => 410;
  const webhook = await subscribe();
  expect((await customer.post(`${webhook}/pause`, {})).status).toBe(200);
  await report(3);
  expect((await customer.put(webhook, { enabled: false })).status).toBe(200);
  expect((await customer.put(webhook, { enabled: true })).status).toBe(200);
  await report(5);
  expect((await customer.post(`${webhook}/resume`, {})).status).toBe(200);
  await eventually(
    async () => (await customer.get(webhook)).json<{ enabled: boolean }>(),
    ({ enabled }) => !enabled,
  );
  expect((await customer.put(webhook, { enabled: true })).status).toBe(200);
  await eventually(
    () => shown(webhook),
    (one) => one.health?.state === 'losing' && one.health.lost === 5,
    STORED,
  );
});
