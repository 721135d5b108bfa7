import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { startRawTarget } from '../support/raw-target.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription, anAccount } from '../support/rows.js';

/** A delivery, as its event shows it. */
interface Delivery {
  id: string;
  state: string;
  reason?: string;
  attempts: number;
  completedAt?: string;
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let database: TestDatabase;
let api: Running;
let platform: Client;
let worker: Running;
let receiver: Receiver;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { auth } = await createUser(database, 'switch', 'platform');
  [api, worker] = await Promise.all([
    // Without Redis, every delivery is claimed from PostgreSQL.
    apiInProcess({
      DATABASE_URL: database.url,
      REDIS_URL: `redis://127.0.0.1:${String(await freePort())}`,
    }),
    workerInProcess({
      DATABASE_URL: database.url,
      DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
      DELIVERY_RETRY_SCHEDULE: '100ms,100ms,100ms',
      DELIVERY_TIMEOUT_MS: '2500',
    }),
  ]);
  platform = clientOf(api.url, auth);
});
afterAll(async () => {
  await worker.stop();
  await api.stop();
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  account = await anAccount(database);
});
afterEach(() => receiver.close());

const anEvent = (accountId = account, data = '{"n":1}') =>
  `{"event":"cdrCreated","resource":"call","accountId":"${accountId}","data":${data}}`;

/** @returns the id of the event */
async function report(data?: string): Promise<string> {
  const answer = await platform.post('/v1/events', anEvent(account, data));
  expect(answer.status).toBe(202);
  return answer.json<{ id: string }>().id;
}

async function reportMany(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => anEvent()).join();
  expect((await platform.post('/v1/events/batch', `{"events":[${events}]}`)).status).toBe(202);
}

async function deliveriesOf(eventId: string): Promise<Delivery[]> {
  const answer = await platform.get(`/v1/events/${eventId}`);
  return answer.json<{ deliveries: Delivery[] }>().deliveries;
}

function finished(eventId: string): Promise<Delivery[]> {
  return eventually(
    () => deliveriesOf(eventId),
    (deliveries) => deliveries.every(({ completedAt }) => completedAt !== undefined),
  );
}

async function attempts(deliveryId: string) {
  return database.query<{
    number: number;
    status: number | null;
    error: string | null;
    address: string | null;
    response_body: string | null;
    truncated: boolean;
  }>('SELECT * FROM attempts WHERE delivery_id = $1 ORDER BY number', [deliveryId]);
}

it('delivers the event byte for byte, signed, with the payload of the subscription', async () => {
  await aSubscription(database, account, {
    target_url: `${receiver.url.replace('http://', 'http://us%C3%A9r:p%40ss@')}/hook?x=1`,
    payload: '{ "mine": 1.0 }',
    name: 'my hook',
  });
  const event = await report('{"big":12345678901234567890, "a":1,"a":2}');
  const [delivery] = await finished(event);
  expect(delivery).toMatchObject({ state: 'succeeded', attempts: 1 });
  const [notification] = receiver.received;
  expect(notification?.target).toBe('/hook?x=1');
  expect(notification?.body).toContain(
    '"data":{"big":12345678901234567890, "a":1,"a":2},"payload":{ "mine": 1.0 }}',
  );
  const headers = notification?.headers as Record<string, string>;
  expect(headers['user-agent']).toMatch(/^Switchhook\/\d/);
  expect(headers['content-type']).toBe('application/json');
  expect(Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString()).toBe('usér:p@ss');
  expect(headers['webhook-id']).toBe(delivery?.id);
  expect(new Webhook(SECRET).verify(notification?.body ?? '', headers)).toMatchObject({
    id: delivery?.id,
    name: 'my hook',
    accountId: account,
  });
  expect(await attempts(delivery!.id)).toMatchObject([
    { number: 1, status: 200, address: '127.0.0.1' },
  ]);
});

it('delivers members with names such as __proto__ as they were sent', async () => {
  const odd =
    '{"__proto__":{"event":"x","toString":1},"constructor":{"prototype":{"id":0}},' +
    '"hasOwnProperty":null,"toJSON":"x","a":[{"__proto__":null}]}';
  await aSubscription(database, account, { target_url: receiver.url, payload: odd });
  const event = await report(odd);
  const [delivery] = await finished(event);
  expect(delivery).toMatchObject({ state: 'succeeded', attempts: 1 });
  const [notification] = receiver.received;
  expect(notification?.body).toContain(`"event":"cdrCreated",`);
  expect(notification?.body).toContain(`,"data":${odd},"payload":${odd}}`);
});

it.each([
  ['http://localhost', '/'],
  ['HTTP://LocalHost/Hook', '/Hook'],
  ['http://localhost./hook', '/hook'],
  ['http://127.1/hook?', '/hook?'],
  ['http://localhost?', '/?'],
  ['http://localhost?a=b', '/?a=b'],
  ['http://localhost/hook?a=?&&b', '/hook?a=?&&b'],
  ['http://localhost/hook#part', '/hook'],
  ['http://localhost/hook?#', '/hook?'],
  ['http://user:p%40ss@localhost/a@b?', '/a@b?'],
  ['http://:pw@localhost/hook', '/hook'],
  ['http://@localhost/hook', '/hook'],
  ['http://localhost/a/./b/../c/%2e%2e/d%2Fe', '/a/d%2Fe'],
  ['http://localhost\\a\\b', '/a/b'],
  ['http://localhost//hook//', '//hook//'],
  ['http://localhost/ü?é=\u{1f600}', '/%C3%BC?%C3%A9=%F0%9F%98%80'],
  [`http://localhost/a|b^c"d'e{f}?g|h^i"j'k{l}`, `/a|b^c%22d'e%7Bf%7D?g|h^i%22j%27k{l}`],
  ['http://localhost/%zz%41?%zz%41', '/%zz%41?%zz%41'],
])('shows the URL of an attempt as it was sent: %s', async (written, target) => {
  const raw = await startRawTarget();
  try {
    raw.answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    const { port } = new URL(raw.url);
    const url = written.replace(/(?<=(?:localhost\.?|127\.1)(?![\w.]))/i, `:${port}`);
    await aSubscription(database, account, { target_url: url });
    const [delivery] = await finished(await report());
    const shown = await platform.get(`/v1/deliveries/${delivery!.id}`);
    const { attemptLog } = shown.json<Schemas['DeliveryWithAttempts']>();
    const [, sent, host] = /^POST (\S+) HTTP\/1\.1\r\n(?:.*\r\n)*?host: (\S+)/i.exec(
      raw.requests[0]!,
    )!;
    expect(sent).toBe(target);
    expect(attemptLog[0]!.request!.url.replace('***@', '')).toBe(`http://${host}${sent}`);
  } finally {
    raw.close();
  }
});

it('retries by the schedule with the same id until it succeeds', async () => {
  await aSubscription(database, account, { target_url: receiver.url });
  receiver.answering = (_, response) =>
    response.writeHead(receiver.received.length < 3 ? 500 : 204).end('no');
  const [delivery] = await finished(await report());
  expect(delivery).toMatchObject({ state: 'succeeded', attempts: 3 });
  expect(new Set(receiver.received.map((received) => received.id))).toEqual(
    new Set([delivery?.id]),
  );
  expect(await attempts(delivery!.id)).toMatchObject([
    { number: 1, status: 500, response_body: 'no' },
    { number: 2, status: 500 },
    { number: 3, status: 204 },
  ]);
});

it('ends as exhausted after the last retry', async () => {
  await aSubscription(database, account, { target_url: receiver.url });
  receiver.answering = (_, response) =>
    response.writeHead(302, { location: `${receiver.url}/else` }).end();
  const [delivery] = await finished(await report());
  expect(delivery).toMatchObject({ state: 'exhausted', reason: 'no_attempts_left', attempts: 4 });
  expect(receiver.received.every((received) => received.path === '/')).toBe(true);
});

it.each([
  ['refused', 'http://127.0.0.1:1024/', undefined],
  ['blocked', 'http://10.1.2.3/', undefined],
  ['blocked', 'http://127.0.0.1:25/', undefined],
  ['blocked', 'http://[::ffff:10.1.2.3]/', undefined],
  ['dns', 'http://no-such-host.invalid/', undefined],
  ['timeout', undefined, () => undefined],
  ['reset', undefined, (_: unknown, response: { destroy: () => void }) => response.destroy()],
  ['tls', 'https', undefined],
] as const)(
  'records %s as the error of an attempt without an answer (%s)',
  async (error, url, answering) => {
    if (answering) receiver.answering = answering;
    const target =
      url === 'https' ? receiver.url.replace('http:', 'https:') : (url ?? receiver.url);
    await aSubscription(database, account, { target_url: target });
    const [delivery] = await finished(await report());
    expect(delivery).toMatchObject({ state: 'exhausted', attempts: 4 });
    expect((await attempts(delivery!.id)).map((attempt) => attempt.error)).toEqual([
      error,
      error,
      error,
      error,
    ]);
  },
);

it('keeps 4 KiB of an answer, and reads it for one second at most', async () => {
  await aSubscription(database, account, { target_url: receiver.url });
  receiver.answering = (_, response) => void response.writeHead(200).write('x'.repeat(5_000));
  const [long] = await finished(await report());
  receiver.answering = (_, response) => void response.writeHead(200).write('slow\0');
  const [slow] = await finished(await report());
  expect(await attempts(long!.id)).toMatchObject([
    { response_body: 'x'.repeat(4_096), truncated: true },
  ]);
  expect(await attempts(slow!.id)).toMatchObject([
    { response_body: 'slow\ufffd', truncated: true },
  ]);
  expect(slow?.state).toBe('succeeded');
});

it('disables the subscription after a 410, and cancels its pending deliveries', async () => {
  const webhook = await aSubscription(database, account, { target_url: receiver.url });
  receiver.answering = (_, response) => response.writeHead(500).end();
  const first = await report();
  await receiver.until((received) => received.length > 0);
  receiver.answering = (_, response) => response.writeHead(410).end();
  const gone = await report();
  // Until its outcome is recorded, the answered delivery shows as cancelled like the other.
  await eventually(
    async () => (await Promise.all([first, gone].map((id) => deliveriesOf(id)))).flat(),
    (all) => all.some(({ state, reason }) => state === 'exhausted' && reason === 'gone'),
  );
  const [row] = await database.query(
    'SELECT enabled, disabled_reason FROM webhooks WHERE id = $1',
    [webhook],
  );
  expect(row).toEqual({ enabled: false, disabled_reason: 'gone' });
  const rows = await eventually(
    () =>
      database.query<{ state: string }>('SELECT state FROM deliveries WHERE webhook_id = $1', [
        webhook,
      ]),
    (all) => all.every(({ state }) => state !== 'pending'),
  );
  expect(rows).toHaveLength(2);
});

it('holds the whole subscription for as long as a 503 requests', async () => {
  await aSubscription(database, account, { target_url: receiver.url });
  receiver.answering = (_, response) => response.writeHead(503, { 'retry-after': '2' }).end();
  const first = await report();
  await eventually(
    () => deliveriesOf(first),
    ([delivery]) => delivery?.state === 'parked',
  );
  receiver.answering = (_, response) => response.end();
  const second = await report();
  const start = receiver.received[0]!.at;
  await finished(first);
  await eventually(
    () => deliveriesOf(second),
    ([delivery]) => delivery?.state === 'succeeded',
  );
  expect(receiver.received.length).toBe(3);
  expect(receiver.received[1]!.at - start).toBeGreaterThanOrEqual(1_900);
});

it('cancels the pending deliveries of a subscription within a second after it is disabled', async () => {
  const webhook = await aSubscription(database, account, { target_url: 'http://127.0.0.1:1024/' });
  const event = await report();
  await eventually(
    () => deliveriesOf(event),
    ([delivery]) => delivery!.attempts > 0,
  );
  const start = Date.now();
  await database.query(
    'UPDATE webhooks SET enabled = false, generation = generation + 1, cancelling = true, updated_at = now() WHERE id = $1',
    [webhook],
  );
  expect((await deliveriesOf(event))[0]?.state).toBe('cancelled');
  const [row] = await eventually(
    () =>
      database.query<{ state: string; reason: string }>(
        'SELECT state, reason FROM deliveries WHERE webhook_id = $1',
        [webhook],
      ),
    ([delivery]) => delivery?.state === 'cancelled',
  );
  expect(row?.reason).toBe('disabled');
  expect(Date.now() - start).toBeLessThan(1_500);
});

it('delays no other subscription at the same host with calls that hang', async () => {
  let calls = 0;
  let givenUp = 0;
  let givenUpBefore: number | undefined;
  receiver.answering = ({ path }, response) => {
    if (path === '/hangs') {
      calls += 1;
      // Each answer raises the limit of concurrent calls by one.
      if (calls <= 3) response.end();
      else response.on('close', () => (givenUp += 1));
    } else {
      givenUpBefore ??= givenUp;
      response.end();
    }
  };
  await aSubscription(database, account, { target_url: `${receiver.url}/hangs` });
  const other = await anAccount(database);
  await aSubscription(database, other, { target_url: `${receiver.url}/answers` });
  await reportMany(60);
  await receiver.until((received) => received.length >= 7);
  await platform.post('/v1/events', anEvent(other));
  await receiver.until((received) => received.some(({ path }) => path === '/answers'));
  // The notification came while all hanging calls were still in flight, not after the first
  // timeout.
  expect(givenUpBefore).toBe(0);
});

it("never exceeds a subscription's limit of concurrent calls, and delivers everything in the end", async () => {
  await aSubscription(database, account, { target_url: receiver.url });
  let inFlight = 0;
  let most = 0;
  receiver.answering = (_, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.end();
    }, 20);
  };
  await reportMany(500);
  await receiver.until((received) => received.length >= 500);
  await eventually(
    () =>
      database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM deliveries WHERE account_id = $1 AND state = 'succeeded'`,
        [account],
      ),
    ([row]) => row?.count === 500,
  );
  expect(receiver.received).toHaveLength(500);
  expect(most).toBeLessThanOrEqual(50);
});
