import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
let operatorId: string;
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
  const operator = await createUser(database, 'platform', 'platform');
  platform = clientOf(api.url, operator.auth);
  operatorId = operator.id;
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
  await emptied();
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

/** The worker may be at one of these tables, having locked another: then PostgreSQL ends the TRUNCATE as a deadlock. */
async function emptied(): Promise<void> {
  await eventually(async () => {
    try {
      await database.query('TRUNCATE webhooks, deliveries, attempts, events');
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01') throw error;
      return false;
    }
  });
}

async function subscribe(
  event: string,
  targetUrl: string,
  as = customer,
  fields = {},
): Promise<string> {
  const answer = await as.post('/v1/webhooks', { event, resource: 'all', targetUrl, ...fields });
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

const arrived = (count: number, path?: string) =>
  eventually(
    () => Promise.resolve(notices(path)),
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
      ...{ webhookId: idOf(webhook), accountId },
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
    ...{ webhookId: idOf(webhook), accountId, event: 'cdrCreated' },
    ...{ targetUrl: `${receiver.url}/failing`, failingSince: health['since'] },
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

describe('a subscription of an operator to the notices of all accounts', () => {
  const ALL = { accounts: 'all' };
  const toAll = (kind: string) => subscribe(kind, `${receiver.url}/all`, platform, ALL);
  const listed = async <One>(path: string, as = platform) => (await as.get(path)).json<One[]>();

  it('is told of each, in events of its own account that no customer sees', async () => {
    for (const kind of KINDS) await toAll(kind);
    const plain = await subscribe('webhookFailing', `${receiver.url}/plain`, platform);
    await open();
    await arrived(1, '/all');
    status = 200;
    expect((await customer.post(`${webhook}/test`)).status).toBe(202);
    await arrived(2, '/all');
    status = 410;
    await report(1);
    const told = await arrived(3, '/all');
    const data = { webhookId: idOf(webhook), accountId, targetUrl: `${receiver.url}/failing` };
    expect(told).toMatchObject(
      ['webhookFailing', 'webhookRecovered', 'webhookDisabled'].map((event) => ({
        ...{ event, accountId: operatorId, data },
      })),
    );
    await arrived(3);
    expect(notices('/plain')).toEqual([]);

    interface Event {
      id: string;
      accountId: number;
      deliveries: { targetUrl: string }[];
      unmatched: object[];
    }
    const all = await listed<Event>('/v1/events?resource=all');
    const own = all.filter((event) => event.accountId === Number(operatorId));
    expect([all.length, own.length]).toEqual([6, 3]);
    for (const { id } of own) {
      const shown = (await platform.get(`/v1/events/${id}`)).json<Event>();
      expect(shown.deliveries).toMatchObject([{ targetUrl: `${receiver.url}/all` }]);
      expect((await customer.get(`/v1/events/${id}`)).status).toBe(404);
    }
    const seen = await listed<Event>('/v1/events?resource=all', customer);
    expect(seen.map((event) => event.accountId)).toEqual(KINDS.map(() => Number(accountId)));
    for (const { id } of seen) {
      const shown = (await customer.get(`/v1/events/${id}`)).json<Event>();
      expect(shown.deliveries).toMatchObject([{ targetUrl: `${receiver.url}/operator` }]);
    }
    const deliveriesOf = (path: string, as: Client) =>
      listed<{ targetUrl: string }>(`/v1/deliveries?event=webhookDisabled${path}`, as);
    expect(await deliveriesOf('', customer)).toMatchObject([
      { targetUrl: `${receiver.url}/operator` },
    ]);
    expect(await deliveriesOf(`&accountId=${operatorId}`, platform)).toMatchObject([
      { targetUrl: `${receiver.url}/all` },
    ]);

    // Only what is told of all accounts has missed those of others.
    const later = await toAll('webhookFailing');
    const missed = (path: string) => listed(`/v1/events?missedBy=${idOf(path)}`);
    expect(await missed(later)).toHaveLength(1);
    expect(await missed(plain)).toEqual([]);
    const failing = own.at(-1)!;
    const { unmatched: untold } = (await platform.get(`/v1/events/${failing.id}`)).json<Event>();
    expect(untold).toEqual(
      expect.arrayContaining([{ webhookId: idOf(later), reason: 'created_later' }]),
    );
    expect(untold).not.toContainEqual(expect.objectContaining({ webhookId: idOf(plain) }));
    const since = new Date(Date.now() - 600_000).toISOString();
    const replay = await platform.post(`${later}/replay`, { since, missed: true });
    expect(replay.status).toBe(202);
    expect((await arrived(4, '/all'))[3]).toMatchObject({ event: 'webhookFailing', data });
  });

  it('is judged by its filter', async () => {
    const filter = { accountId: ['0', accountId] };
    await subscribe('webhookDisabled', `${receiver.url}/all`, platform, { ...ALL, filter });
    const others = { accountId: '0' };
    await subscribe('webhookDisabled', `${receiver.url}/none`, platform, {
      ...ALL,
      filter: others,
    });
    status = 410;
    await report(1);
    expect(await arrived(1, '/all')).toMatchObject([{ data: { webhookId: idOf(webhook) } }]);
    await arrived(1);
    expect(notices('/none')).toEqual([]);
  });

  it('is shown with its accounts, tested with a sample, and changed back', async () => {
    const path = await toAll('webhookDisabled');
    expect((await platform.get(path)).json()).toMatchObject(ALL);
    expect((await platform.post(`${path}/test`)).status).toBe(202);
    const [sample] = await arrived(1, '/all');
    expect(sample?.data).toMatchObject({ webhookId: '4711', accountId: operatorId });
    expect((await platform.put(path, { accounts: null })).status).toBe(200);
    expect((await platform.get(path)).json()).not.toHaveProperty('accounts');
    status = 410;
    await report(1);
    await arrived(1);
    expect(notices('/all')).toHaveLength(1);
  });

  it('is refused to customers, for other events, and for an application', async () => {
    const targetUrl = receiver.url;
    const given = { event: 'webhookFailing', resource: 'all', targetUrl, ...ALL };
    const own = await subscribe('webhookFailing', targetUrl);
    expect(faultsOf(await customer.post('/v1/webhooks', given))).toEqual(['accounts not_allowed']);
    expect(faultsOf(await customer.put(own, ALL))).toEqual(['accounts not_allowed']);
    for (const [fields, fault] of [
      [{ event: 'cdrCreated' }, 'accounts conflict'],
      [{ accounts: 'some' }, 'accounts choice'],
      [{ accounts: '' }, 'accounts choice'],
      [{ accounts: true }, 'accounts type'],
    ] as const) {
      const answer = await platform.post('/v1/webhooks', { ...given, ...fields });
      expect(faultsOf(answer)).toEqual([fault]);
    }
    const application = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
    const { href } = (await platform.post('/v1/applications', application)).json<{
      href: string;
    }>();
    const ofApplication = await platform.post(`${new URL(href).pathname}/webhooks`, given);
    expect(faultsOf(ofApplication)).toEqual(['accounts not_allowed']);
    const path = await toAll('webhookFailing');
    expect(faultsOf(await platform.put(path, { event: 'smsdlr' }))).toEqual(['event conflict']);
    // A client may send back what it has fetched.
    const fetched = (await platform.get(path)).json<object>();
    expect((await platform.put(path, fetched)).status).toBe(200);
    expect((await customer.put(own, { accounts: null })).status).toBe(200);
  });
});
