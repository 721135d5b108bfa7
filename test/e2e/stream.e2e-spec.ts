import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { EventStream } from '../support/event-stream.js';
import { basic, type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { connectTo } from '../support/raw-connection.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

type Delivery = Schemas['Delivery'];
type Attempt = Schemas['Attempt'] & { deliveryId: string };
type Webhook = Schemas['Webhook'];

let database: TestDatabase;
let redis: Redis;
let api: Running;
let worker: Running;
let receiver: Receiver;
let platform: Client;
let customer: { id: string; auth: string };
let client: Client;
let webhook: string;
let customers = 0;
const streams: EventStream[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  redis = new Redis(testRedisUrl().toString());
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms,1h',
  };
  [api, worker] = await Promise.all([apiInProcess(environment), workerInProcess(environment)]);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  redis.disconnect();
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  customers += 1;
  customer = await createUser(database, `customer-${customers}`);
  client = clientOf(api.url, customer.auth);
  webhook = await subscribe(client);
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await receiver.close();
});

async function subscribe(as: Client, change: object = {}): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url, ...change };
  return (await as.post('/v1/webhooks', body)).json<{ href: string }>().href.split('/').at(-1)!;
}

async function open(auth = customer.auth, after?: string): Promise<EventStream> {
  const headers = after === undefined ? {} : { 'last-event-id': after };
  const stream = await EventStream.open(`${api.url}/v1/stream`, auth, headers);
  streams.push(stream);
  return stream;
}

/** @returns the id of the event */
async function report(accountId = customer.id): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
  const answer = await platform.post('/v1/events', event);
  return answer.json<Schemas['AcceptedEvent']>().href.split('/').at(-1)!;
}

/** Forges changes of subscriptions, alternately, in place of a worker. */
async function happen(times: number, webhooks: readonly string[]): Promise<void> {
  const log = `{switchhook:activity}:log:${customer.id}`;
  const [last] = await redis.xrevrange(log, '+', '-', 'COUNT', 1);
  const [created, number] = last![0].split('-').map(Number) as [number, number];
  const pipeline = redis.pipeline();
  for (let n = 1; n <= times; n += 1) {
    pipeline.xadd(log, `${created}-${number + n}`, 'h', `webhook ${webhooks[n % webhooks.length]}`);
  }
  await pipeline.exec();
}

const isOf = (eventId: string, state: string) => (event: { name: string; data: string }) =>
  event.name === 'delivery' &&
  (JSON.parse(event.data) as Delivery).eventId === eventId &&
  (JSON.parse(event.data) as Delivery).state === state;

it('shows a delivery from its event to its last attempt, exactly as the lists show it', async () => {
  let answered = 0;
  receiver.answering = (_, response) => response.writeHead(answered++ === 0 ? 503 : 200).end('ok');
  const stream = await open();
  const event = await report();
  await stream.until(isOf(event, 'succeeded'));
  const [listed] = (await client.get('/v1/deliveries')).json<Delivery[]>();
  expect(stream.data<Delivery>('delivery').at(-1)).toEqual(listed);
  const attempts = stream.data<Attempt>('attempt');
  const shown = await client.get(`/v1/deliveries/${listed!.id}/attempts`);
  expect(attempts).toEqual(
    shown.json<object[]>().map((attempt) => ({ deliveryId: listed!.id, ...attempt })),
  );
  expect(attempts.map(({ number, status }) => [number, status])).toEqual([
    [1, 503],
    [2, 200],
  ]);
  expect(stream.events.map(({ name }) => name).slice(0, 2)).toEqual(['open', 'delivery']);
  expect(stream.data('interrupted')).toEqual([]);
});

it('shows tests, redeliveries and cancelled deliveries', async () => {
  const stream = await open();
  const tested = await client.post(`/v1/webhooks/${webhook}/test`);
  const id = tested.json<{ href: string }>().href.split('/').at(-1)!;
  await stream.until(({ data }) => data.includes(id) && data.includes('"state":"succeeded"'));
  stream.events.length = 0;
  await client.post(`/v1/deliveries/${id}/redeliver`);
  await stream.until(({ data }) => data.includes(id) && data.includes('"state":"succeeded"'));
  expect(stream.data<Attempt>('attempt').map(({ number }) => number)).toEqual([2]);
  await client.post(`/v1/webhooks/${webhook}/pause`);
  const event = await report();
  await stream.until(isOf(event, 'parked'));
  const parked = stream.data<Delivery>('delivery').at(-1)!;
  await client.post(`/v1/deliveries/${parked.id}/cancel`);
  await stream.until(isOf(event, 'cancelled'));
});

it('shows when a subscription is changed, and how its health changes', async () => {
  receiver.answering = (_, response) => response.writeHead(500).end();
  const stream = await open();
  await client.put(`/v1/webhooks/${webhook}`, { name: 'Renamed' });
  await stream.until(({ name, data }) => name === 'webhook' && data.includes('Renamed'));
  const showsHealth = (state: string) =>
    stream.until(({ name, data }) => name === 'webhook' && data.includes(`"state":"${state}"`));
  const failing = await report();
  await showsHealth('failing');
  // A retry that ended later would be one more failure, and keep the subscription paused.
  await stream.until(
    ({ name, data }) =>
      name === 'delivery' &&
      (JSON.parse(data) as Delivery).eventId === failing &&
      (JSON.parse(data) as Delivery).attempts === 2,
  );
  await database.query(
    `UPDATE webhooks SET failures = 9, failing_since = now() - interval '1 hour' WHERE id = $1`,
    [webhook],
  );
  await report();
  await showsHealth('open');
  stream.events.length = 0;
  receiver.answering = (_, response) => response.end();
  await database.query(`UPDATE webhooks SET open_until = now() WHERE id = $1`, [webhook]);
  await showsHealth('ok');
  const shown = (await client.get(`/v1/webhooks/${webhook}`)).json<Webhook>();
  expect(stream.data<Webhook>('webhook').at(-1)).toEqual(shown);
});

it('keeps the line breaks of a payload', async () => {
  const stream = await open();
  const payload = '{"a":1,\r\n"big":12345678901234567890,\n\n"b":[2]}';
  await send('PUT', `${api.url}/v1/webhooks/${webhook}`, {
    auth: customer.auth,
    body: `{"payload":${payload}}`,
  });
  const events = await stream.until(({ name }) => name === 'webhook');
  const { data } = events.find(({ name }) => name === 'webhook')!;
  expect(data).toContain(`"payload":${payload.replace('\r\n', '\n')}`);
});

it('shows each account only its own activity', async () => {
  const stranger = await createUser(database, `stranger-${customers}`);
  await subscribe(clientOf(api.url, stranger.auth));
  const [own, others] = [await open(), await open(stranger.auth)];
  const event = await report();
  const foreign = await report(stranger.id);
  await own.until(isOf(event, 'succeeded'));
  await others.until(isOf(foreign, 'succeeded'));
  expect(own.events.filter(({ data }) => data.includes(foreign))).toEqual([]);
  expect(others.events.filter(({ data }) => data.includes(event))).toEqual([]);
  // Write access to Redis allows forging entries, but not reading another account's data with them.
  const [delivery] = (await client.get('/v1/deliveries')).json<Delivery[]>();
  const log = `{switchhook:activity}:log:${stranger.id}`;
  const [last] = await redis.xrevrange(log, '+', '-', 'COUNT', 1);
  const [created, number] = last![0].split('-').map(Number) as [number, number];
  const forged = [
    `delivery ${delivery!.id}`,
    `event ${event}`,
    `webhook ${webhook}`,
    'x',
    "webhook '",
  ];
  for (const [index, entry] of forged.entries()) {
    await redis.xadd(log, `${created}-${number + index + 1}`, 'h', entry);
  }
  const later = await report(stranger.id);
  await others.until(isOf(later, 'succeeded'));
  expect(others.events.filter(({ data }) => data.includes(delivery!.id))).toEqual([]);
  expect(others.data('webhook')).toEqual([]);
});

describe('a client that reconnects', () => {
  it('gets the events that it missed, and no others', async () => {
    const first = await open();
    const seen = await report();
    await first.until(isOf(seen, 'succeeded'));
    first.close();
    const missed = [await report(), await report()];
    await eventually(
      async () => (await client.get('/v1/deliveries?state=succeeded')).json<Delivery[]>(),
      (all) => all.length === 3,
    );
    const second = await open(customer.auth, first.lastId);
    await second.until(isOf(missed[1]!, 'succeeded'));
    expect(second.data<Delivery>('delivery').map(({ eventId }) => eventId)).not.toContain(seen);
    expect(second.data<Delivery>('delivery').map(({ eventId }) => eventId)).toContain(missed[0]);
    expect(second.data('interrupted')).toEqual([]);
  });

  it.each(['1-1', '9999999999999-1', 'nonsense'])(
    'is told that events may be missing if its place is unknown: %s',
    async (place) => {
      const stream = await open(customer.auth, place);
      await stream.until(({ name }) => name === 'interrupted');
      const event = await report();
      await stream.until(isOf(event, 'succeeded'));
    },
  );

  it('is told that events may be missing if the log no longer has them', async () => {
    const first = await open();
    await report();
    await first.until(({ name }) => name === 'attempt');
    first.close();
    await redis.xtrim(`{switchhook:activity}:log:${customer.id}`, 'MAXLEN', 1);
    const second = await open(customer.auth, first.events[0]!.id);
    await second.until(({ name }) => name === 'interrupted');
  });
});

it('continues when Redis has lost everything, and tells that events may be missing', async () => {
  const stream = await open();
  await redis.flushdb();
  await stream.until(({ name }) => name === 'interrupted', 15_000);
  const event = await report();
  await stream.until(isOf(event, 'succeeded'));
  // Before, nothing happened for ten seconds.
  expect(stream.comments).toBeGreaterThan(0);
});

it('allows an account five streams at once, and refuses more of them one after another', async () => {
  for (let n = 0; n < 5; n += 1) await open();
  const oneMore = () => send('GET', `${api.url}/v1/stream`, { auth: customer.auth });
  const sixth = await oneMore();
  expect([sixth.status, sixth.json().code]).toEqual([429, 'rate_limited']);
  expect(sixth.headers['retry-after']).toBe('10');
  const start = performance.now();
  const refused = await Promise.all([1, 2, 3, 4, 5].map(oneMore));
  for (const { status } of refused) expect(status).toBe(429);
  expect(performance.now() - start).toBeGreaterThan(300);
  streams.pop()!.close();
  await eventually(() => open().catch(() => undefined));
});

it('shows a subscription once that changed several times in a moment', async () => {
  const stream = await open();
  await happen(15, [webhook]);
  await stream.until(({ id = '' }) => id.endsWith('-16'));
  const shown = stream.data<Webhook>('webhook').filter(({ id }) => id === webhook);
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.length).toBeLessThan(5);
});

it('does not show an update that changed nothing', async () => {
  const other = await subscribe(client, { name: 'Other' });
  const stream = await open();
  expect((await client.put(`/v1/webhooks/${webhook}`, {})).status).toBe(200);
  await client.put(`/v1/webhooks/${other}`, { name: 'Renamed' });
  await stream.until(({ data }) => data.includes('"Renamed"'));
  expect(stream.data<Webhook>('webhook').filter(({ id }) => id === webhook)).toEqual([]);
});

it('ends the stream of revoked credentials even after too many failed logins', async () => {
  const stream = await open();
  const { username } = (await client.get(`/v1/users/${customer.id}`)).json<{ username: string }>();
  for (let n = 0; n < 10; n += 1) {
    await send('GET', `${api.url}/v1/applications`, { auth: `${username}:wrong ${n}` });
  }
  await platform.put(`/v1/users/${customer.id}`, { status: 'locked' });
  await eventually(
    () => Promise.resolve(stream.ended),
    (ended) => ended,
    { ms: 15_000 },
  );
});

it('ends within seconds when its credentials are revoked, even if nothing happens', async () => {
  const stream = await open();
  await platform.put(`/v1/users/${customer.id}`, { status: 'locked' });
  await eventually(
    () => Promise.resolve(stream.ended),
    (ended) => ended,
    // Before the sign of life that comes after ten seconds.
    { ms: 8_000 },
  );
});

it('sends nothing more once the credentials are revoked', async () => {
  const stream = await open();
  await platform.put(`/v1/users/${customer.id}`, { status: 'locked' });
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const event = await report();
  await eventually(
    () => Promise.resolve(stream.ended),
    (ended) => ended,
    { ms: 15_000 },
  );
  expect(stream.events.filter(({ data }) => data.includes(event))).toEqual([]);
});

it('disconnects a client that does not read', async () => {
  const payload = { text: 'x'.repeat(15_000) };
  const webhooks = [];
  while (webhooks.length < 9) webhooks.push(await subscribe(client, { payload }));
  const connection = await connectTo(api.url);
  connection.write(
    `GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(customer.auth)}\r\n\r\n`,
  );
  await connection.until(/event: open/);
  connection.pause();
  let ended = false;
  void connection.ended.then(() => (ended = true));
  // More than all buffers on the way hold.
  await happen(5_000, webhooks);
  // A paused socket does not see its end.
  await eventually(
    () => redis.zcard(`{switchhook:activity}:listeners:${customer.id}`),
    (listeners) => listeners === 0,
    { ms: 90_000 },
  );
  connection.resume();
  await eventually(() => ended);
  expect(connection.received().length).toBeLessThan(5_000 * 15_000);
}, 150_000);

it('answers HEAD at once', async () => {
  const answer = await send('HEAD', `${api.url}/v1/stream`, { auth: customer.auth });
  expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
    200,
    'text/event-stream',
    '',
  ]);
});

describe('without Redis', () => {
  it('is answered with 503, and everything else works', async () => {
    const lonely = await apiInProcess({
      DATABASE_URL: database.url,
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    const answer = await send('GET', `${lonely.url}/v1/stream`, { auth: customer.auth });
    expect([answer.status, answer.json().code]).toEqual([503, 'unavailable']);
    expect((await clientOf(lonely.url, customer.auth).get('/v1/deliveries')).status).toBe(200);
    await lonely.stop();
  });
});

it('ends at once when its process stops', async () => {
  const short = await apiInProcess({ DATABASE_URL: database.url });
  const stream = await EventStream.open(`${short.url}/v1/stream`, customer.auth);
  const before = performance.now();
  await short.stop();
  expect(performance.now() - before).toBeLessThan(8_000);
  expect(stream.ended).toBe(true);
});
