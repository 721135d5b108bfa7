import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { faultsOf } from '../support/demo-account.js';
import { expectProblem } from '../support/problem.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

type Shown = Schemas['Delivery'];

let database: TestDatabase;
let api: Running;
let worker: Running;
let receiver: Receiver;
let platform: Client;
let customer: Client;
let stranger: Client;
let application: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms,1h',
  };
  [api, worker] = await Promise.all([apiInProcess(environment), workerInProcess(environment)]);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  customers += 1;
  customer = clientOf(api.url, (await createUser(database, `customer-${customers}`)).auth);
  application = lastSegment(
    await customer.post('/v1/applications', { name: 'app', voiceUrl: 'http://foobar' }),
  );
});
afterEach(() => receiver.close());

function lastSegment(answer: { json: () => unknown }): string {
  return (answer.json() as { href: string }).href.split('/').at(-1) ?? '';
}

async function subscribe(path = '/v1/webhooks', change: object = {}): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url, ...change };
  const answer = await customer.post(path, body);
  expect(answer.status).toBe(200);
  return lastSegment(answer);
}

async function report(change: object = {}) {
  const answer = await platform.post('/v1/events', {
    event: 'cdrCreated',
    resource: 'call',
    applicationId: application,
    data: { n: 1 },
    ...change,
  });
  expect(answer.status).toBe(202);
  return answer.json<Schemas['AcceptedEvent']>();
}

async function deliveriesOf(webhook: string, query = ''): Promise<Shown[]> {
  const answer = await customer.get(`/v1/webhooks/${webhook}/deliveries${query}`);
  return answer.json<Shown[]>();
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function shown(id: string) {
  return (await customer.get(`/v1/deliveries/${id}`)).json<Schemas['DeliveryWithAttempts']>();
}

async function onlyDelivery(webhook: string, state: string): Promise<Shown> {
  const [delivery] = await eventually(
    () => deliveriesOf(webhook),
    ([first]) => first?.state === state,
  );
  return delivery as Shown;
}

it('notifies account-level and application-level subscriptions, even of applications created later', async () => {
  const ofAccount = await subscribe();
  const ofApplication = await subscribe(`/v1/applications/${application}/webhooks`);
  const later = lastSegment(
    await customer.post('/v1/applications', { name: 'later', messagingUrl: 'http://foobar' }),
  );
  expect((await report()).deliveries).toBe(2);
  expect((await report({ applicationId: Number(later) })).deliveries).toBe(1);
  await receiver.until((received) => received.length === 3);
  expect(await deliveriesOf(ofAccount)).toHaveLength(2);
  expect(await deliveriesOf(ofApplication)).toHaveLength(1);
});

it('shows an event with its deliveries only to its owner and to the platform', async () => {
  await subscribe();
  const data = '{"big":12345678901234567890, "a":1, "a":2}';
  const answer = await platform.post(
    '/v1/events',
    `{"id":"k-1","event":"cdrCreated","resource":"call","applicationId":${application},"data":${data}}`,
  );
  const { id, href } = answer.json<{ id: string; href: string }>();
  expect(href).toBe(`${api.url}/v1/events/${id}`);
  expect(answer.headers.location).toBe(href);
  for (const client of [customer, platform]) {
    const event = await client.get(`/v1/events/${id}`);
    expect(event.status).toBe(200);
    expect(event.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(event.text).toContain(`"data":${data},"deliveries":[{`);
    expect(event.json()).toMatchObject({ id, href, producerId: 'k-1', applicationId: application });
  }
  expect((await stranger.get(`/v1/events/${id}`)).status).toBe(404);
  expect((await customer.get('/v1/events/nonsense')).status).toBe(404);
  expect((await customer.post('/v1/events', {})).status).toBe(403);
});

it('shows each attempt of a delivery to its owner and to the platform, and to no other account', async () => {
  const webhook = await subscribe('/v1/webhooks', { headers: { 'X-Api-Key': 'hidden' } });
  receiver.answering = (_, response) => {
    response
      .writeHead(receiver.received.length === 1 ? 500 : 200, { 'x-mine': 'yes' })
      .end('because');
  };
  await report();
  const { id, href } = await onlyDelivery(webhook, 'succeeded');
  expect(href).toBe(`${api.url}/v1/deliveries/${id}`);
  expect(await shown(id)).toMatchObject({
    id,
    attempts: 2,
    test: false,
    targetUrl: receiver.url,
    attemptLog: [
      { number: 1, status: 500, responseBody: 'because', responseHeaders: { 'x-mine': 'yes' } },
      { number: 2, status: 200, address: '127.0.0.1', truncated: false },
    ],
  });
  const [first, second] = (await shown(id)).attemptLog;
  const { headers } = receiver.received[0]!;
  expect(first!.request).toEqual({
    method: 'POST',
    url: `${receiver.url}/`,
    headers: {
      'X-Api-Key': '***',
      'content-type': 'application/json',
      'user-agent': headers['user-agent'],
      'webhook-id': id,
      'webhook-timestamp': headers['webhook-timestamp'],
      'webhook-signature': headers['webhook-signature'],
    },
  });
  expect(first!.phases!.queued).toBeLessThan(60_000);
  expect(first!.phases).toHaveProperty('firstByte');
  expect(second!.phases).not.toHaveProperty('queued');
  for (const path of [`/v1/deliveries/${id}`, `/v1/deliveries/${id}/attempts`]) {
    expect((await stranger.get(path)).status).toBe(404);
    expect((await platform.get(path)).json()).toEqual((await customer.get(path)).json());
  }
  const list = `/v1/webhooks/${webhook}/deliveries`;
  for (const client of [stranger, platform]) {
    expect((await client.get(list)).status).toBe(404);
    for (const change of ['redeliver', 'cancel']) {
      expect((await client.post(`/v1/deliveries/${id}/${change}`)).status).toBe(404);
    }
  }
});

describe('the attempts of a delivery with 250 attempts', () => {
  let id: string;

  beforeEach(async () => {
    const webhook = await subscribe();
    await report();
    ({ id } = await onlyDelivery(webhook, 'succeeded'));
    // Each answer has the maximum length; escaped, they make megabytes.
    await database.query(
      `INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, address,
         response_body)
       SELECT $1, 2 * n, n, now(), 1, 500, '192.168.7.7', repeat(chr(1), 4096)
       FROM generate_series(2, 250) n`,
      [id],
    );
    await database.query('UPDATE deliveries SET attempts = 250 WHERE id = $1', [id]);
  });

  it('are shown with it up to the newest hundred, and all of them in pages', async () => {
    const { attemptLog } = await shown(id);
    expect(attemptLog.map(({ number }) => number)).toEqual(range(151, 250));
    const pages: number[][] = [];
    let path = `/v1/deliveries/${id}/attempts?limit=120`;
    while (path !== '') {
      const answer = await customer.get(path);
      const page = answer.json<Schemas['Attempt'][]>();
      expect(page.every(({ responseBody = '' }) => [0, 4_096].includes(responseBody.length))).toBe(
        true,
      );
      pages.push(page.map(({ number }) => number));
      const next = /<([^>]+)>; rel="next"/.exec(String(answer.headers.link))?.[1] ?? '';
      path = next.slice(api.url.length);
    }
    expect(pages).toEqual([range(1, 120), range(121, 240), range(241, 250)]);
  });

  it('are shown to no other account, and can be listed from a given number on', async () => {
    const path = `/v1/deliveries/${id}/attempts`;
    expect((await stranger.get(path)).status).toBe(404);
    expect((await customer.get(`${path}?after=x`)).status).toBe(400);
    expect((await customer.get(`${path}?after=250`)).json()).toEqual([]);
  });

  it('hide an address that is not public, unless the target URL contains it', async () => {
    const [first, second] = (await customer.get(`/v1/deliveries/${id}/attempts?limit=2`)).json<
      Schemas['Attempt'][]
    >();
    expect([first?.address, second?.address]).toEqual(['127.0.0.1', undefined]);
  });
});

it('redelivers a delivery twenty times in an hour, and then tells how long to wait', async () => {
  const [first, second] = [await subscribe(), await subscribe()];
  await report();
  const [{ id }, { id: other }] = [
    await onlyDelivery(first, 'succeeded'),
    await onlyDelivery(second, 'succeeded'),
  ];
  const redeliver = async (which = id) => customer.post(`/v1/deliveries/${which}/redeliver`);
  for (let time = 0; time < 20; time += 1) {
    expect((await redeliver()).status).toBe(202);
    await onlyDelivery(first, 'succeeded');
  }
  const refused = await redeliver();
  expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
  expect(await shown(id)).toMatchObject({ state: 'succeeded', attempts: 21 });
  expect((await redeliver(other)).status).toBe(202);
});

it.each([
  ['pending', 'pending', 'parked'],
  ['succeeded', 'exhausted', 'exhausted'],
  ['cancelled', 'exhausted', 'exhausted'],
])('looks for %s deliveries among ten thousand at a time', async (state, stored, isShown) => {
  const webhook = await subscribe();
  await database.query(
    `WITH w AS (UPDATE webhooks SET paused = true WHERE id = $1 RETURNING *),
     e AS (
       INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(now(), 1), account_id, event, 'call', now(), now(), '{}' FROM w RETURNING id
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state,
       next_attempt_at, completed_at, created_at)
     SELECT new_uuid(now(), n), e.id, w.id, w.account_id, w.event, w.generation, $2,
       CASE WHEN $2 = 'pending' THEN now() END, CASE WHEN $2 <> 'pending' THEN now() END, now()
     FROM w, e, generate_series(1, 10001) n`,
    [webhook, stored],
  );
  const first = await customer.get(`/v1/webhooks/${webhook}/deliveries?state=${state}`);
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
  const second = await customer.get(next.slice(api.url.length));
  expect([first.text, second.text, second.headers.link]).toEqual(['[]', '[]', undefined]);
  expect(await deliveriesOf(webhook, `?state=${isShown}&limit=3`)).toHaveLength(3);
});

it('lists deliveries newest first, in pages, filtered', async () => {
  const webhook = await subscribe();
  for (let n = 0; n < 5; n += 1) await report();
  await eventually(
    () => deliveriesOf(webhook, '?state=succeeded'),
    (all) => all.length === 5,
  );
  const all = await deliveriesOf(webhook);
  expect(all.map(({ id }) => id)).toEqual(
    all
      .map(({ id }) => id)
      .sort()
      .reverse(),
  );
  const first = await customer.get(`/v1/webhooks/${webhook}/deliveries?limit=3&state=succeeded`);
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
  const second = await customer.get(next.slice(api.url.length));
  expect(second.headers.link).toBeUndefined();
  const paged = [first, second].flatMap((page) => page.json<Shown[]>());
  expect(paged).toEqual(all);
  expect(await deliveriesOf(webhook, '?event=smsdlr')).toEqual([]);
  expect(await deliveriesOf(webhook, '?event=cdrCreated')).toHaveLength(5);
  expect(await deliveriesOf(webhook, '?state=nonsense')).toEqual([]);
  expect(await deliveriesOf(webhook, '?since=2020-01-01T00:00:00Z')).toHaveLength(5);
  expect(await deliveriesOf(webhook, '?until=2020-01-01T00:00:00Z')).toEqual([]);
  expect((await customer.get(`/v1/webhooks/${webhook}/deliveries?limit=0`)).status).toBe(400);
});

it('lists the deliveries of an account over all its subscriptions, and all of them to the platform', async () => {
  let answered = 0;
  receiver.answering = (_, response) => response.writeHead(answered++ === 0 ? 503 : 200).end();
  const failing = await subscribe();
  await report();
  const [retried] = await eventually(
    () => deliveriesOf(failing),
    ([one]) => one?.attempts === 2,
  );
  const other = await subscribe(`/v1/applications/${application}/webhooks`);
  await customer.put(`/v1/webhooks/${failing}`, { enabled: false });
  await report();
  await eventually(
    () => deliveriesOf(other, '?state=succeeded'),
    (all) => all.length === 1,
  );
  const listed = async (query: string, client = customer) =>
    (await client.get(`/v1/deliveries${query}`)).json<Shown[]>().map(({ webhookId }) => webhookId);
  const accountId = String(
    (await customer.get(`/v1/webhooks/${other}`)).json<{ accountId: number }>().accountId,
  );
  expect(await listed('')).toEqual([other, failing]);
  expect(await listed(`?webhookId=${failing}`)).toEqual([failing]);
  expect(await listed('?status=200')).toEqual([other, failing]);
  expect(await listed('?status=5xx')).toEqual([]);
  expect(await listed('?status=failed')).toEqual([]);
  expect(await listed(`?applicationId=${application}`)).toEqual([other, failing]);
  expect(await listed('?applicationId=1')).toEqual([]);
  expect(await listed(`?accountId=${accountId}`)).toEqual([other, failing]);
  expect(await listed('?accountId=none')).toEqual([]);
  expect(await listed('', stranger)).toEqual([]);
  expect(await listed(`?webhookId=${failing}`, stranger)).toEqual([]);
  expect(await listed(`?accountId=${accountId}`, stranger)).toEqual([]);
  expect(await listed(`?accountId=${accountId}`, platform)).toEqual([other, failing]);
  expect((await listed('?limit=2', platform)).slice(0, 2)).toEqual([other, failing]);
  const first = await customer.get('/v1/deliveries?limit=1');
  expect(first.headers.link).toContain('/v1/deliveries?limit=1&after=');
  expect(retried).toMatchObject({ webhookId: failing, state: 'succeeded' });
});

it('lists the events that were sent to no subscription', async () => {
  const before = await report({ event: 'cdrRated' });
  await subscribe(`/v1/applications/${application}/webhooks`, { event: 'cdrRated' });
  const matched = await report({ event: 'cdrRated' });
  const other = await report({ resource: 'sms', event: 'smsdlr' });
  const listed = async (query: string, client = customer) =>
    (await client.get(`/v1/events?${query}`)).json<{ id: string }[]>().map(({ id }) => id);
  expect(await listed('unmatched=true')).toEqual([other.id, before.id]);
  expect(await listed('unmatched=true&event=cdrRated')).toEqual([before.id]);
  expect(await listed('unmatched=false')).toEqual([matched.id]);
  expect(await listed('unmatched=true', stranger)).toEqual([]);
  expect(await listed('unmatched=true&limit=1', platform)).toEqual([other.id]);
  expect((await customer.get('/v1/events?unmatched=yes')).status).toBe(400);
});

it('lists events newest first, filtered, to their owner', async () => {
  const other = lastSegment(
    await customer.post('/v1/applications', { name: 'other', voiceUrl: 'http://foobar' }),
  );
  const first = await report({ id: 'cdr-1' });
  const second = await report({ id: 'cdr-1', event: 'cdrRated', resource: 'sms' });
  const third = await report({ applicationId: other });
  const listed = async (query: string, client = customer) =>
    (await client.get(`/v1/events?${query}`)).json<{ id: string }[]>().map(({ id }) => id);
  const accountId = (await customer.get(`/v1/events/${first.id}`)).json<{ accountId: number }>()
    .accountId;
  expect(await listed('')).toEqual([third.id, second.id, first.id]);
  expect(await listed('limit=1')).toEqual([third.id]);
  expect(await listed(`after=${second.id}`)).toEqual([first.id]);
  expect(await listed('event=cdrRated')).toEqual([second.id]);
  expect(await listed('resource=call')).toEqual([third.id, first.id]);
  expect(await listed(`applicationId=${other}`)).toEqual([third.id]);
  expect(await listed('applicationId=nonsense')).toEqual([]);
  expect(await listed('producerId=cdr-1')).toEqual([second.id, first.id]);
  expect(await listed('producerId=cdr-1&event=cdrRated')).toEqual([second.id]);
  expect(await listed('since=2020-01-01T00:00:00Z&until=2099-01-01T00:00:00Z')).toHaveLength(3);
  expect(await listed('until=2020-01-01T00:00:00Z')).toEqual([]);
  expect(await listed(`accountId=${accountId}`)).toEqual([third.id, second.id, first.id]);
  expect(await listed('accountId=none')).toEqual([]);
  expect(await listed('', stranger)).toEqual([]);
  expect(await listed(`accountId=${accountId}`, stranger)).toEqual([]);
  expect(await listed(`accountId=${accountId}`, platform)).toEqual([third.id, second.id, first.id]);
  expect(await listed(`accountId=${accountId}&producerId=cdr-1&limit=1`, platform)).toEqual([
    second.id,
  ]);
  expect(await listed('accountId=none', platform)).toEqual([]);
  expect((await listed('limit=3', platform)).sort()).toEqual(
    [first.id, second.id, third.id].sort(),
  );
  expect(await listed(`applicationId=${other}`, platform)).toEqual([third.id]);
  const [head] = (await customer.get('/v1/events?limit=1')).json<object[]>();
  expect(Object.keys(head!)).not.toContain('data');
});

it('tells why a subscription was not notified of an event', async () => {
  const notified = await subscribe();
  const otherEvent = await subscribe('/v1/webhooks', { event: 'cdrRated' });
  const off = await subscribe('/v1/webhooks', { enabled: false });
  const offForOther = await subscribe('/v1/webhooks', { enabled: false, event: 'cdrRated' });
  const otherResource = await subscribe(`/v1/applications/${application}/webhooks`, {
    resource: 'sms',
  });
  const changed = await subscribe('/v1/webhooks', { resource: 'transcription' });
  const { id } = await report();
  const later = await subscribe();
  await customer.put(`/v1/webhooks/${changed}`, { resource: 'all' });
  const event = (await customer.get(`/v1/events/${id}`)).json<Schemas['EventReport']>();
  expect(event.deliveries.map(({ webhookId }) => webhookId)).toEqual([notified]);
  expect(Object.fromEntries(event.unmatched.map((one) => [one.webhookId, one.reason]))).toEqual({
    [otherEvent]: 'other_event',
    [off]: 'disabled',
    [offForOther]: 'other_event',
    [otherResource]: 'other_resource',
    [changed]: 'changed_later',
    [later]: 'created_later',
  });
});

it('sends a missed event to a subscription that was created later, once', async () => {
  const event = await report();
  const webhook = await subscribe();
  const send = (webhookId: unknown, client = customer) =>
    client.post(`/v1/events/${event.id}/deliveries`, { webhookId });
  const answer = await send(Number(webhook));
  expect(answer.status).toBe(202);
  const { id } = await onlyDelivery(webhook, 'succeeded');
  expect((await customer.get('/v1/events?unmatched=true')).json()).toEqual([]);
  expect(answer.headers.location).toBe(`${api.url}/v1/deliveries/${id}`);
  expect(answer.json()).toMatchObject({ href: answer.headers.location });
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
  const shown = await customer.get(`/v1/events/${event.id}`);
  expect(shown.json()).toMatchObject({ deliveries: [{ id, webhookId: webhook }], unmatched: [] });
  const codeOf = async (webhookId: unknown, client = customer) =>
    (await send(webhookId, client)).json<{ code: string }>().code;
  expect(await codeOf(webhook)).toBe('delivery_exists');
  expect(await codeOf(await subscribe('/v1/webhooks', { event: 'smsdlr' }))).toBe(
    'event_not_matching',
  );
  expect(await codeOf(await subscribe('/v1/webhooks', { enabled: false }))).toBe(
    'subscription_inactive',
  );
  expect(faultsOf(await send('4711'))).toEqual(['webhookId unknown_reference']);
  expect(faultsOf(await send(undefined))).toEqual(['webhookId required']);
  for (const other of [stranger, platform]) {
    expect((await send(webhook, other)).status).toBe(404);
  }
});

it("shows statistics of a subscription's recent deliveries", async () => {
  const webhook = await subscribe();
  const stats = async () =>
    (await customer.get(`/v1/webhooks/${webhook}/stats`)).json<Schemas['DeliveryStatistics']>();
  const { since, until, ...none } = await stats();
  expect(none).toEqual({ attempts: 0, outcomes: {}, waiting: { deliveries: 0 } });
  expect(Date.parse(until) - Date.parse(since)).toBeGreaterThanOrEqual(86_400_000);
  await report();
  await onlyDelivery(webhook, 'succeeded');
  receiver.answering = (_, response) => response.writeHead(500).end();
  await report();
  await eventually(stats, ({ attempts }) => attempts === 3);
  await customer.put(`/v1/webhooks/${webhook}`, {
    targetUrl: `http://127.0.0.1:${await freePort()}/`,
  });
  await report();
  const after = await eventually(stats, ({ attempts }) => attempts === 5);
  expect(after).toMatchObject({
    outcomes: { '2xx': 1, '5xx': 2, refused: 2 },
    successRate: 0.2,
    waiting: { deliveries: 2 },
  });
  const { p50, p95 } = after.answerMs!;
  expect(p50).toBeGreaterThanOrEqual(0);
  expect(p95).toBeGreaterThanOrEqual(p50);
  expect(Date.parse(after.waiting.since!)).toBeLessThan(Date.now());
  expect((await stranger.get(`/v1/webhooks/${webhook}/stats`)).status).toBe(404);
});

it('redelivers a finished delivery under the same id, with a full schedule', async () => {
  const webhook = await subscribe();
  await report();
  const { id } = await onlyDelivery(webhook, 'succeeded');
  receiver.answering = (_, response) => response.writeHead(500).end();
  const again = await customer.post(`/v1/deliveries/${id}/redeliver`);
  expect(again.status).toBe(202);
  expect(again.json()).toEqual({ href: `${api.url}/v1/deliveries/${id}` });
  expect(again.headers.location).toBe(`${api.url}/v1/deliveries/${id}`);
  const waiting = await eventually(
    () => shown(id),
    ({ attempts }) => attempts === 3,
  );
  expect(waiting.state).toBe('pending');
  expect(new Set(receiver.received.map((received) => received.id))).toEqual(new Set([id]));
  const early = await customer.post(`/v1/deliveries/${id}/redeliver`);
  expect(early.status).toBe(409);
  const next = (await shown(id)).nextAttemptAt;
  expect(early.json()).toMatchObject({
    code: 'delivery_not_finished',
    error: `The delivery is not finished yet: send it now with POST /v1/deliveries/{id}/send, or wait for its next attempt at ${next}.`,
  });
  expect((await stranger.post(`/v1/deliveries/${id}/redeliver`)).status).toBe(404);
});

it('does not redeliver a delivery in flight, even if its subscription was disabled for a moment', async () => {
  const webhook = await subscribe();
  receiver.answering = () => undefined;
  await report();
  await receiver.until((received) => received.length === 1);
  const [{ id }] = (await deliveriesOf(webhook)) as [Shown];
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: false });
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: true });
  const answer = await customer.post(`/v1/deliveries/${id}/redeliver`);
  expect([answer.status, answer.json().code]).toEqual([409, 'delivery_not_finished']);
});

it('sends a test once, marked as a test, even to a blocked subscription', async () => {
  const webhook = await subscribe('/v1/webhooks', { event: 'smsdlr', resource: 'sms' });
  await database.query(`UPDATE webhooks SET hold_until = now() + interval '1 hour' WHERE id = $1`, [
    webhook,
  ]);
  receiver.answering = (_, response) => response.writeHead(500).end();
  const answer = await customer.post(`/v1/webhooks/${webhook}/test`);
  expect(answer.status).toBe(202);
  const id = lastSegment(answer);
  await eventually(
    () => shown(id),
    ({ state }) => state === 'exhausted',
  );
  expect(receiver.received).toHaveLength(1);
  const body = JSON.parse(receiver.received[0]!.body) as Record<string, unknown>;
  expect(body).toMatchObject({ id, event: 'smsdlr', resource: 'sms', test: true });
  expect(Object.keys(body.data as object)).toContain('dlvrd');
});

it('redelivers a test like any other delivery: with a full schedule, and blocked with its subscription', async () => {
  const webhook = await subscribe();
  const id = lastSegment(await customer.post(`/v1/webhooks/${webhook}/test`));
  await onlyDelivery(webhook, 'succeeded');
  receiver.answering = (_, response) => response.writeHead(500).end();
  expect((await customer.post(`/v1/deliveries/${id}/redeliver`)).status).toBe(202);
  const again = await eventually(
    () => shown(id),
    ({ attempts }) => attempts === 3,
  );
  expect(again).toMatchObject({ state: 'pending', test: true });
  expect(receiver.received.every(({ body }) => body.includes('"test":true'))).toBe(true);
  await database.query(`UPDATE webhooks SET hold_until = now() + interval '1 hour' WHERE id = $1`, [
    webhook,
  ]);
  expect((await shown(id)).state).toBe('parked');
});

it('cancels pending deliveries when a subscription is disabled, and revives none of them', async () => {
  const webhook = await subscribe();
  receiver.answering = (_, response) => response.writeHead(500).end();
  await report();
  const { id } = await eventually(
    async () => (await deliveriesOf(webhook))[0]!,
    ({ attempts }) => attempts === 2,
  );
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: false });
  expect(await shown(id)).toMatchObject({ state: 'cancelled' });
  expect((await report()).deliveries).toBe(0);
  const off = [`/v1/deliveries/${id}/redeliver`, `/v1/webhooks/${webhook}/test`];
  for (const path of off) {
    const answer = await customer.post(path);
    expect([answer.status, answer.json().code]).toEqual([409, 'subscription_inactive']);
  }
  await eventually(
    () => shown(id),
    ({ reason }) => reason === 'disabled',
  );
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: true });
  expect(await shown(id)).toMatchObject({ state: 'cancelled', reason: 'disabled' });
  receiver.answering = (_, response) => response.end();
  expect((await customer.post(`/v1/deliveries/${id}/redeliver`)).status).toBe(202);
  await eventually(
    () => shown(id),
    ({ state }) => state === 'succeeded',
  );
});

it('cancels the deliveries of a deleted application, which stay readable', async () => {
  const webhook = await subscribe(`/v1/applications/${application}/webhooks`);
  receiver.answering = (_, response) => response.writeHead(500).end();
  await report();
  const { id } = await eventually(
    async () => (await deliveriesOf(webhook))[0]!,
    ({ attempts }) => attempts === 2,
  );
  await customer.delete(`/v1/applications/${application}`);
  expect((await customer.get(`/v1/webhooks/${webhook}`)).status).toBe(404);
  await eventually(
    () => shown(id),
    ({ state, reason }) => state === 'cancelled' && reason === 'deleted',
  );
});

it('uses a changed target and secret from the next attempt on', async () => {
  const webhook = await subscribe('/v1/webhooks', {
    targetUrl: `http://127.0.0.1:${await freePort()}/`,
  });
  const { secret } = (await customer.get(`/v1/webhooks/${webhook}/secret`)).json<{
    secret: string;
  }>();
  await report();
  await eventually(
    async () => (await deliveriesOf(webhook))[0]!,
    ({ attempts }) => attempts === 2,
  );
  await customer.put(`/v1/webhooks/${webhook}`, { targetUrl: receiver.url, name: 'new' });
  await customer.post(`/v1/webhooks/${webhook}/secret/rotate`);
  await customer.post(`/v1/webhooks/${webhook}/secret/rotate`);
  await database.query(`UPDATE deliveries SET next_attempt_at = now() WHERE webhook_id = $1`, [
    webhook,
  ]);
  await onlyDelivery(webhook, 'succeeded');
  const [notification] = receiver.received;
  expect(JSON.parse(notification!.body)).toMatchObject({ name: 'new' });
  expect(String(notification!.headers['webhook-signature']).split(' ')).toHaveLength(3);
  // The first secret was rotated twice a moment ago.
  const headers = notification!.headers as Record<string, string>;
  expect(() => new Webhook(secret).verify(notification!.body, headers)).not.toThrow();
});
