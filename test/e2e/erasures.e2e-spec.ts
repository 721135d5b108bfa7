import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { partitionsOf } from '../support/past.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const ERASURES = '/v1/erasures';
const NUMBER = '+14075550123';

let database: TestDatabase;
let environment: Record<string, string>;
let api: Running;
let worker: Running | undefined;
let receiver: Receiver;
let platform: Client;
let operator: Client;
let customer: Client;
let stranger: Client;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await partitionsOf(database, 1);
  environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '1h',
  };
  api = await apiInProcess(environment);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  operator = clientOf(api.url, (await createUser(database, 'operator', 'operator')).auth);
  const owner = await createUser(database, 'customer');
  account = owner.id;
  customer = clientOf(api.url, owner.auth);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});
beforeEach(async () => {
  await database.query(
    'TRUNCATE webhooks, events, event_keys, deliveries, attempts, replays, replay_parts, erasures, idempotency_keys',
  );
  receiver = await startReceiver();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await receiver.close();
});

const works = async () => {
  worker = await workerInProcess(environment);
};

async function subscribe(fields: object = {}): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url, ...fields };
  const answer = await customer.post('/v1/webhooks', body);
  return answer.json<{ href: string }>().href.split('/').at(-1)!;
}

/** @param data as JSON text. @returns the event's id */
async function report(data: string, fields: object = {}): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: account, ...fields };
  const body = `${JSON.stringify(event).slice(0, -1)},"data":${data}}`;
  const answer = await platform.post('/v1/events', body);
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json<{ id: string }>().id;
}

const withNumber = `{"to":"${NUMBER}"}`;

async function erase(by: Client = customer, fields: object = {}): Promise<Schemas['Erasure']> {
  const answer = await by.post(ERASURES, { contains: NUMBER, ...fields });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  if (!worker) await works();
  const { pathname } = new URL(answer.json<{ href: string }>().href);
  return eventually(
    async () => (await by.get(pathname)).json<Schemas['Erasure']>(),
    ({ state }) => state === 'completed',
    { ms: 30_000 },
  );
}

const event = async (id: string) => (await customer.get(`/v1/events/${id}`)).json<Event>();
type Event = Schemas['EventReport'];
type Delivery = Schemas['DeliveryWithAttempts'];

const delivery = async (id: string) =>
  (await customer.get(`/v1/deliveries/${id}`)).json<Delivery>();
const deliveryOf = async (eventId: string) => (await event(eventId)).deliveries[0]!.id;

const delivered = (id: string, state = 'succeeded') =>
  eventually(
    () => delivery(id),
    (one) => one.state === state && one.attempts > 0,
  );

describe('an erasure', () => {
  it('empties the data of the events with the text, and of no others', async () => {
    const ids = {
      plain: await report(withNumber),
      escaped: await report(String.raw`{"to":"\u002b1407555\u0030123"}`),
      slash: await report('{"sip":"sip:ann/home"}'),
      other: await report('{"to":"+14075550124"}'),
    };
    const erasure = await erase();
    expect(erasure).toMatchObject({ accountId: Number(account), events: 2, producerIds: 0 });
    expect(erasure).not.toHaveProperty('contains');
    for (const id of [ids.plain, ids.escaped]) {
      const { data, erasedAt } = await event(id);
      expect([data, Date.parse(erasedAt!)]).toEqual([{}, expect.any(Number)]);
    }
    for (const id of [ids.slash, ids.other]) {
      expect(await event(id)).not.toHaveProperty('erasedAt');
    }
    const listed = (await customer.get('/v1/events?include=data')).json<Event[]>();
    expect(listed.map(({ id, data, erasedAt }) => [id, data, typeof erasedAt])).toEqual([
      [ids.other, { to: '+14075550124' }, 'undefined'],
      [ids.slash, { sip: 'sip:ann/home' }, 'undefined'],
      [ids.escaped, {}, 'string'],
      [ids.plain, {}, 'string'],
    ]);
    const csv = await customer.get('/v1/events', { headers: { accept: 'text/csv' } });
    expect(csv.text.split('\r\n')[0]).toContain('erasedAt');
    expect((await erase(customer, { contains: 'sip:ann/home' })).events).toBe(1);
  });

  it('empties tests and notices, too', async () => {
    const webhook = await subscribe({ name: `calls of ${NUMBER}` });
    const tested = await customer.post(`/v1/webhooks/${webhook}/test`);
    const test = await delivery(tested.json<{ href: string }>().href.split('/').at(-1)!);
    await database.query('UPDATE events SET data = $1 WHERE id = $2', [withNumber, test.eventId]);
    expect((await erase()).events).toBe(1);
    expect(await event(test.eventId)).toMatchObject({ data: {} });
  });

  it('cancels what waits, and keeps it from being sent again', async () => {
    const webhook = await subscribe();
    receiver.answering = (_, response) => response.writeHead(500).end();
    const id = await report(withNumber);
    await works();
    const waiting = await deliveryOf(id);
    await delivered(waiting, 'pending');
    expect((await erase()).deliveries).toBe(1);
    expect(await delivery(waiting)).toMatchObject({ state: 'cancelled', reason: 'erased' });
    for (const action of ['redeliver', 'send']) {
      const answer = await customer.post(`/v1/deliveries/${waiting}/${action}`);
      expect([answer.status, answer.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'event_erased' }),
      ]);
    }
    const other = await subscribe({ name: 'later' });
    const sent = await customer.post(`/v1/events/${id}/deliveries`, { webhookId: other });
    expect(sent.json()).toMatchObject({ code: 'event_erased' });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    for (const body of [{ since }, { since, missed: true }]) {
      for (const of of [webhook, other]) {
        const counted = await customer.post(`/v1/webhooks/${of}/replay`, { ...body, dryRun: true });
        expect(counted.json()).toMatchObject({ deliveries: 0 });
      }
    }
    expect((await customer.get(`/v1/events?missedBy=${other}`)).json()).toEqual([]);
  });

  it('empties stored answers, and that of an attempt that ends afterwards', async () => {
    await subscribe();
    const answered = { 'x-number': NUMBER };
    let finish = (): void => undefined;
    receiver.answering = ({ body }, response) => {
      const end = () => response.writeHead(200, answered).end(`thanks for ${NUMBER}`);
      if (body.includes('later')) finish = end;
      else end();
    };
    await works();
    const first = await deliveryOf(await report(withNumber));
    expect((await delivered(first)).attemptLog[0]).toMatchObject({ responseHeaders: answered });
    const id = await report(`{"to":"${NUMBER}","when":"later"}`);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    const inFlight = await deliveryOf(id);
    await erase();
    expect(await delivery(inFlight)).toMatchObject({ state: 'cancelled', reason: 'erased' });
    finish();
    expect(await delivered(inFlight)).toMatchObject({ attempts: 1 });
    for (const one of [first, inFlight]) {
      const [attempt] = (await delivery(one)).attemptLog;
      expect(attempt).toMatchObject({ status: 200 });
      expect(attempt).not.toHaveProperty('responseHeaders');
      expect(attempt).not.toHaveProperty('responseBody');
    }
    expect(receiver.received).toHaveLength(2);
  });

  it("removes producers' keys, which are new afterwards", async () => {
    const id = await report('{"n":1}', { id: `sms-${NUMBER}` });
    const kept = await report(withNumber, { id: 'cdr-1' });
    expect(await erase()).toMatchObject({ events: 1, producerIds: 1 });
    const shown = await event(id);
    expect(shown).toMatchObject({ data: { n: 1 } });
    expect(shown).not.toHaveProperty('producerId');
    expect(shown).not.toHaveProperty('erasedAt');
    expect(await event(kept)).toMatchObject({ producerId: 'cdr-1', data: {} });
    const again = await report('{"n":1}', { id: `sms-${NUMBER}` });
    expect(again).not.toBe(id);
    expect(await report(withNumber, { id: 'cdr-1' })).toBe(kept);
  });

  it('keeps to its time, and to what was accepted before it', async () => {
    const id = await report(withNumber);
    const { createdAt } = await event(id);
    const after = new Date(Date.parse(createdAt) + 1).toISOString();
    expect((await erase(customer, { since: after })).events).toBe(0);
    expect((await erase(customer, { until: createdAt })).events).toBe(0);
    await worker!.stop();
    worker = undefined;
    const answer = await customer.post(ERASURES, { contains: NUMBER, since: createdAt });
    const later = await report(withNumber);
    await works();
    const { pathname } = new URL(answer.json<{ href: string }>().href);
    await eventually(
      async () => (await customer.get(pathname)).json<Schemas['Erasure']>(),
      ({ state }) => state === 'completed',
    );
    expect(await event(id)).toMatchObject({ data: {} });
    expect(await event(later)).toMatchObject({ data: { to: NUMBER } });
  });

  it('only counts in a dry run', async () => {
    const id = await report(withNumber, { id: NUMBER });
    await report(String.raw`{"to":"\u002b14075550123"}`);
    const answer = await customer.post(ERASURES, { contains: NUMBER, dryRun: true });
    expect([answer.status, answer.json()]).toEqual([200, { events: 2, producerIds: 1 }]);
    expect(await event(id)).toMatchObject({ data: { to: NUMBER } });
  });

  it('is one for all requests with the same key', async () => {
    const headers = { 'Idempotency-Key': 'forget-1' };
    const first = await customer.post(ERASURES, { contains: NUMBER }, { headers });
    const again = await customer.post(ERASURES, { contains: NUMBER }, { headers });
    expect([first.status, again.status, again.text]).toEqual([202, 202, first.text]);
    const other = await customer.post(ERASURES, { contains: 'sip:ann' }, { headers });
    expect(other.status).toBe(422);
    expect(await database.query('SELECT FROM erasures')).toHaveLength(1);
  });

  it('refuses a misspelt member, without which it would erase more', async () => {
    const id = await report(withNumber);
    for (const [member, by, meant] of [
      [{ dryrun: true }, customer, 'dryRun'],
      [{ account }, platform, 'accountId'],
    ] as const) {
      const answer = await by.post(ERASURES, { contains: NUMBER, ...member });
      const [field] = Object.keys(member);
      const message = `${field} is not known here (did you mean ${meant}?).`;
      expect([answer.status, answer.json()]).toEqual([
        400,
        expect.objectContaining({ errors: [{ field, code: 'not_allowed', message }] }),
      ]);
    }
    expect(await database.query('SELECT FROM erasures')).toEqual([]);
    expect(await event(id)).toMatchObject({ data: { to: NUMBER } });
  });

  it('refuses faulty requests', async () => {
    for (const [body, field, code] of [
      [{}, 'contains', 'required'],
      [{ contains: '407' }, 'contains', 'length'],
      [{ contains: 'x'.repeat(201) }, 'contains', 'length'],
      [{ contains: NUMBER, accountId: '999999' }, 'accountId', 'unknown_reference'],
      [{ contains: NUMBER, until: 'soon' }, 'until', 'format'],
    ] as const) {
      for (const by of [customer, platform]) {
        const answer = await by.post(ERASURES, body);
        expect([answer.status, answer.json()]).toEqual([
          400,
          expect.objectContaining({ errors: [expect.objectContaining({ field, code })] }),
        ]);
        expect(answer.text).not.toContain(NUMBER);
      }
    }
  });
});

describe('an account', () => {
  it('erases its own events only', async () => {
    const id = await report(withNumber);
    expect((await erase(stranger)).events).toBe(0);
    const asked = await stranger.post(ERASURES, { contains: NUMBER, accountId: account });
    expect(asked.json()).toMatchObject({ code: 'validation_failed' });
    expect(await event(id)).not.toHaveProperty('erasedAt');
  });

  it.each([
    ['platform', () => platform],
    ['operator', () => operator],
  ])('has its events erased by the role %s, alone or with those of all', async (_, by) => {
    await report(withNumber);
    const own = await erase(by(), { accountId: account });
    expect(own).toMatchObject({ events: 1, accountId: Number(account) });
    await report(withNumber);
    const all = await erase(by());
    expect(all.events).toBe(1);
    expect(all).not.toHaveProperty('accountId');
    for (const [reader, erasure, status] of [
      [customer, own, 200],
      [by(), own, 200],
      [stranger, own, 404],
      [customer, all, 404],
    ] as const) {
      expect((await reader.get(`${ERASURES}/${erasure.id}`)).status).toBe(status);
    }
  });

  it('finds its erasure in the audit, without the text', async () => {
    const { id } = await erase();
    const audit = await customer.get(`/v1/audit?resourceId=${id}`);
    expect(audit.json()).toEqual([
      expect.objectContaining({ action: 'erasure.create', resourceId: id, actor: 'customer' }),
    ]);
    expect(audit.text).not.toContain(NUMBER);
  });
});

it('goes on where a worker that was killed had stopped', async () => {
  const count = 4_000;
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at, CASE WHEN n % 2 = 0 THEN $2 ELSE '{}' END
     FROM generate_series(1, $3::integer) n, LATERAL (SELECT now() - n * interval '1 ms' AS at) t`,
    [account, withNumber, count],
  );
  const answer = await customer.post(ERASURES, { contains: NUMBER });
  const { pathname } = new URL(answer.json<{ href: string }>().href);
  const erasure = async () => (await customer.get(pathname)).json<Schemas['Erasure']>();
  const killed = await startWorker(environment);
  await eventually(erasure, ({ events }) => events > 0);
  await killed.kill();
  const { state, events } = await erasure();
  expect([state, events < count / 2]).toEqual(['running', true]);
  await works();
  const { events: all } = await eventually(erasure, (one) => one.state === 'completed', {
    ms: 60_000,
  });
  expect(all).toBe(count / 2);
  const left = await database.query('SELECT FROM events WHERE strpos(data, $1) > 0', [NUMBER]);
  expect(left).toEqual([]);
});
