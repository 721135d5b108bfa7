import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nextPageOf, type Schemas } from '#libs/client';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { aSubscription } from '../support/rows.js';

/** The limit of deliveries added to an event, and of those shown with it. */
const LIMIT = 100;

let database: TestDatabase;
let api: InProcess;
let account: string;
let customer: Client;
let stranger: Client;
let platform: Client;
let event: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  const owner = await createUser(database, 'customer');
  account = owner.id;
  customer = clientOf(api.url, owner.auth);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, events');
  event = await anEvent();
});

async function anEvent(data: object = { n: 1 }): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'call', accountId: account, data };
  return (await platform.post('/v1/events', body)).json<{ id: string }>().id;
}

const manySubscriptions = (count: number) =>
  Promise.all(Array.from({ length: count }, () => aSubscription(database, account)));

const send = (webhookId: string) => customer.post(`/v1/events/${event}/deliveries`, { webhookId });

const codeOf = async (webhookId: string) => (await send(webhookId)).json<{ code: string }>().code;

const shown = async (client = customer) =>
  (await client.get(`/v1/events/${event}`)).json<Schemas['EventReport']>();

/** Adds deliveries of the event as earlier versions did, which had no limit. */
const addDeliveries = (webhookId: string, count: number) =>
  database.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state,
       created_at, completed_at)
     SELECT (left($1::text, 19) || '8' || right(md5($1::text || n), 15))::uuid, $1::uuid, $2, $3,
       'cdrCreated', 1, 'succeeded', now(), now()
     FROM generate_series(1, $4::integer) n`,
    [event, webhookId, account, count],
  );

/** All pages of the event's deliveries. */
async function pages(query: string, client = customer): Promise<Schemas['Delivery'][][]> {
  const read: Schemas['Delivery'][][] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const answer = await client.get(`/v1/events/${event}/deliveries?${query}${after}`);
    read.push(answer.json());
    const headers = new Headers({ Link: answer.headers.link ?? '' });
    const next = nextPageOf({ headers } as Response);
    after = next && `&after=${next.after}`;
  }
  return read;
}

it('shows the newest 100 deliveries of an event, and pages all of them', async () => {
  // Longer than the size that is answered whole.
  const data = { text: 'x'.repeat(100_000) };
  event = await anEvent(data);
  const webhook = await aSubscription(database, account, {
    target_url: `https://t/${'x'.repeat(2_000)}`,
  });
  await addDeliveries(webhook, 1_500);
  const all = (
    await database.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id DESC')
  ).map(({ id }) => id);
  const report = await shown();
  expect(report.deliveries.map(({ id }) => id)).toEqual(all.slice(0, LIMIT));
  expect(report).toMatchObject({ id: event, data, unmatched: [] });
  expect(JSON.stringify(report).length).toBeGreaterThan(256 << 10);
  const idsOf = async (query: string, client?: Client) =>
    (await pages(query, client)).map((page) => page.map(({ id }) => id));
  const byHundred = await idsOf('');
  expect(byHundred.map(({ length }) => length)).toEqual(Array(15).fill(LIMIT));
  expect(byHundred.flat()).toEqual(all);
  expect((await idsOf('limit=1000', platform)).map(({ length }) => length)).toEqual([1_000, 500]);
  const path = `/v1/events/${event}/deliveries`;
  expect((await customer.get(`${path}?limit=1001`)).status).toBe(400);
  expect((await customer.get(`${path}?after=x`)).status).toBe(400);
  expect((await stranger.get(path)).status).toBe(404);
  expect((await customer.get('/v1/events/x/deliveries')).status).toBe(404);
});

it('lists no deliveries of other events that were accepted together', async () => {
  const [one, other] = await manySubscriptions(2);
  const body = { event: 'cdrCreated', resource: 'call', accountId: account, data: {} };
  const batch = await platform.post('/v1/events/batch', { events: Array(50).fill(body) });
  const { results } = batch.json<{ results: { id: string }[] }>();
  for (const { id } of [results[0]!, results[25]!, results[49]!]) {
    event = id;
    const deliveries = (await shown()).deliveries;
    expect(deliveries.map(({ eventId }) => eventId)).toEqual([id, id]);
    expect(deliveries.map(({ webhookId }) => webhookId).sort()).toEqual([one, other]);
    expect(await pages('limit=1')).toEqual(deliveries.map((each) => [each]));
  }
});

it('sends an event to at most 100 subscriptions that it had not matched, however many ask at once', async () => {
  const subscriptions = await manySubscriptions(LIMIT + 5);
  const answers = await Promise.all(subscriptions.map(send));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(LIMIT);
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused.map((answer) => [answer.status, answer.json<{ code: string }>().code])).toEqual(
    Array(5).fill([409, 'delivery_limit_reached']),
  );
  expect(await codeOf(subscriptions[statuses.indexOf(202)]!)).toBe('delivery_exists');
  const [{ deliveries }] = (await database.query<{ deliveries: number }>(
    'SELECT count(*)::integer AS deliveries FROM deliveries',
  )) as [{ deliveries: number }];
  expect(deliveries).toBe(LIMIT);
  const { deliveries: newest } = await shown();
  const times = newest.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort().reverse());
});

it('sends an event to a subscription once, however many ask at once', async () => {
  const webhook = await aSubscription(database, account);
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(webhook)));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect((await shown()).deliveries).toHaveLength(1);
  const [row] = await database.query('SELECT added, unmatched FROM events WHERE id = $1', [event]);
  expect(row).toEqual({ added: 1, unmatched: false });
});
