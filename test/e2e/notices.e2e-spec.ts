import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { faultsOf } from '../support/demo-account.js';
import { EventStream } from '../support/event-stream.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const KINDS = ['webhookFailing', 'webhookDisabled', 'webhookRecovered'];

interface Notification {
  event: string;
  resource: string;
  accountId: string;
  timestamp: string;
  test?: boolean;
  data: Record<string, string>;
}

let database: TestDatabase;
let api: Running;
let worker: Running;
let receiver: Receiver;
let platform: Client;
let customer: Client;
let accountId: string;
let auth: string;
let customers = 0;
let webhook: string;
/** The answers of the failing subscription's target. */
let status: number;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: Array.from({ length: 20 }, () => '1s').join(','),
  };
  [api, worker] = await Promise.all([apiInProcess(environment), workerInProcess(environment)]);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
  receiver = await startReceiver(({ path }, response) =>
    response.writeHead(path === '/failing' ? status : 200).end(),
  );
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, attempts, events');
  receiver.received.length = 0;
  status = 500;
  customers += 1;
  ({ id: accountId, auth } = await createUser(database, `customer-${customers}`));
  customer = clientOf(api.url, auth);
  const targetUrl = receiver.url.replace('//', '//user:password@');
  webhook = await subscribe('cdrCreated', `${targetUrl}/failing`);
  for (const kind of KINDS) await subscribe(kind, `${receiver.url}/operator`);
});
afterEach(() => {
  // A stranger's subscriptions get nothing.
  expect(receiver.received.filter(({ path }) => path === '/stranger')).toEqual([]);
});

async function subscribe(event: string, targetUrl: string, as = customer): Promise<string> {
  const answer = await as.post('/v1/webhooks', { event, resource: 'all', targetUrl });
  expect(answer.status).toBe(200);
  return new URL(answer.json<{ href: string }>().href).pathname;
}

const idOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const set = (what: string, path = webhook) =>
  database.query(`UPDATE webhooks SET ${what} WHERE id = $1`, [idOf(path)]);

async function report(count: number): Promise<void> {
  const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
  const events = Array.from({ length: count }, () => event);
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
}

/** Has the circuit opened by real failures, the first of which is moved 31 s into the past. */
async function open(): Promise<void> {
  await report(12);
  await eventually(
    () => database.query<{ failures: number }>(`SELECT failures FROM webhooks ORDER BY id LIMIT 1`),
    ([row]) => row?.failures === 10,
  );
  await set(`failing_since = now() - interval '31 s'`);
  await report(1);
}

/** The notices that have arrived. */
const notices = (path = '/operator') =>
  receiver.received
    .filter((received) => received.path === path)
    .map(({ body }) => JSON.parse(body) as Notification);

const arrived = (count: number) =>
  eventually(
    () => Promise.resolve(notices()),
    (all) => all.length >= count,
    { ms: 20_000 },
  );

it('tells of an open circuit with its disablesAt, and of the recovery', async () => {
  const stranger = await createUser(database, `stranger-${customers}`);
  for (const kind of KINDS) {
    await subscribe(kind, `${receiver.url}/stranger`, clientOf(api.url, stranger.auth));
  }
  const stream = await EventStream.open(`${api.url}/v1/stream`, auth);
  await open();
  const [failing] = await arrived(1);
  const { health } = (await customer.get(webhook)).json<{ health: Record<string, string> }>();
  expect(failing).toMatchObject({
    ...{ event: 'webhookFailing', resource: 'all', accountId },
    data: {
      webhookId: idOf(webhook),
      event: 'cdrCreated',
      targetUrl: `${receiver.url}/failing`,
      failingSince: health['since'],
      disablesAt: health['disablesAt'],
    },
  });
  expect(receiver.received.find(({ path }) => path === '/operator')?.headers).toMatchObject({
    'webhook-signature': expect.stringMatching(/^v1,/) as string,
  });
  await stream.until(({ name, data }) => name === 'delivery' && data.includes('webhookFailing'));
  stream.close();

  status = 200;
  expect((await customer.post(`${webhook}/test`)).status).toBe(202);
  const all = await arrived(2);
  expect(all.map(({ event }) => event)).toEqual(['webhookFailing', 'webhookRecovered']);
  expect(all[1]?.data).toEqual({
    ...{ webhookId: idOf(webhook), event: 'cdrCreated', targetUrl: `${receiver.url}/failing` },
    failingSince: health['since'],
  });

  const listed = (await customer.get('/v1/events?resource=all')).json<{ href: string }[]>();
  expect(listed).toHaveLength(2);
  const { unmatched } = (await customer.get(new URL(listed[0]!.href).pathname)).json<{
    unmatched: { webhookId: string }[];
  }>();
  expect(unmatched.map(({ webhookId }) => webhookId)).not.toContain(idOf(webhook));
});

it('tells of a subscription that the service disables, but not of one that the customer disables', async () => {
  status = 410;
  await report(1);
  const [off] = await arrived(1);
  expect(off).toMatchObject({
    event: 'webhookDisabled',
    data: { webhookId: idOf(webhook), reason: 'gone' },
  });

  expect((await customer.put(webhook, { enabled: true })).status).toBe(200);
  status = 500;
  await open();
  await arrived(2);
  await set(`failing_since = now() - interval '5 days', open_until = now()`);
  expect((await arrived(3))[2]).toMatchObject({
    event: 'webhookDisabled',
    data: { webhookId: idOf(webhook), reason: 'failing' },
  });

  expect((await customer.put(webhook, { enabled: true })).status).toBe(200);
  expect((await customer.put(webhook, { enabled: false })).status).toBe(200);
  const other = await subscribe('cdrCreated', `${receiver.url}/other`);
  expect((await customer.delete(other)).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(notices()).toHaveLength(3);
});

it('tells a subscription to notices nothing about itself', async () => {
  const itself = await subscribe('webhookDisabled', `${receiver.url}/failing`);
  const other = await subscribe('webhookRecovered', `${receiver.url}/failing`);
  status = 410;
  expect((await customer.post(`${itself}/test`)).status).toBe(202);
  const [off] = await arrived(1);
  expect(off?.data).toMatchObject({ webhookId: idOf(itself), event: 'webhookDisabled' });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(notices('/failing')).toMatchObject([{ test: true }]);
  expect((await customer.get(`${other}/deliveries`)).json()).toEqual([]);
});

it.each(KINDS)('refuses %s as an event of the platform, and tests it as a sample', async (kind) => {
  const event = { event: kind, resource: 'call', accountId, data: {} };
  expect(faultsOf(await platform.post('/v1/events', event))).toEqual(['event not_allowed']);
  const narrow = { event: kind, resource: 'call', targetUrl: receiver.url };
  expect(faultsOf(await customer.post('/v1/webhooks', narrow))).toEqual(['resource conflict']);

  const path = await subscribe(kind, `${receiver.url}/operator`);
  expect((await customer.post(`${path}/test`)).status).toBe(202);
  const [sample] = await arrived(1);
  expect(sample).toMatchObject({ event: kind, resource: 'all', test: true });
  expect(sample?.data).toMatchObject({ webhookId: '4711', event: 'cdrCreated' });
});
