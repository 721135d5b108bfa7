import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, basic, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { aSubscription } from '../support/rows.js';

const NDJSON = { headers: { accept: 'application/x-ndjson' } };
const CSV = { headers: { accept: 'text/csv' } };

let database: TestDatabase;
let api: InProcess;
let account: string;
let auth: string;
let customer: Client;
let stranger: Client;
let platform: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  ({ id: account, auth } = await createUser(database, 'customer'));
  customer = clientOf(api.url, auth);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});
beforeEach(() => database.query('TRUNCATE webhooks, deliveries, events, event_keys'));

async function report(data: string, fields = ''): Promise<string> {
  const body = `{"event": "cdrCreated", "resource": "call", "accountId": "${account}"${fields}, "data": ${data}}`;
  const answer = await platform.post('/v1/events', body, {
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json<{ id: string }>().id;
}

/** Stores events with a text as long as given. @returns their ids, newest first */
async function manyEvents(count: number, bytes: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at, json_build_object('n', n, 'filler', repeat('x', $3))
     FROM generate_series(1, $2::integer) n,
       LATERAL (SELECT date_trunc('ms', now()) - n * interval '1 ms' AS at) t
     ORDER BY n RETURNING id`,
    [account, count, bytes],
  );
  return rows.map(({ id }) => id);
}

const linesOf = ({ text }: Answer) => text.split('\n').slice(0, -1);
const idsOf = (answer: Answer) =>
  linesOf(answer).map((line) => (JSON.parse(line) as { id: string }).id);

it.each([
  ['/v1/events', 'events'],
  ['/v1/deliveries', 'deliveries'],
  ['/v1/webhooks/:id/deliveries', 'deliveries'],
  ['/v1/audit', 'audit'],
])('exports %s in the types that are asked for', async (address, name) => {
  const webhook = await aSubscription(database, account);
  for (const data of ['{"a": 1}', '{"b": 2}']) await report(data);
  await customer.post('/v1/applications', { name: '=cmd', voiceUrl: 'https://v.example/' });
  const path = address.replace(':id', webhook);
  const json = await customer.get(path);
  const rows = json.json<object[]>();
  expect(rows.length).toBeGreaterThan(0);
  expect(json.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    vary: expect.stringContaining('Accept') as string,
  });
  expect(json.headers).not.toHaveProperty('content-disposition');
  const ndjson = await customer.get(path, NDJSON);
  expect(linesOf(ndjson).map((line) => JSON.parse(line) as object)).toEqual(rows);
  expect(ndjson.headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="${name}.ndjson"`,
    vary: expect.stringContaining('Accept') as string,
    'cache-control': 'no-store',
  });
  const csv = await customer.get(path, CSV);
  expect(csv.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
  expect(csv.text.split('\r\n')).toHaveLength(rows.length + 2);
  expect(csv.text).toMatch(/^id,/);
  for (const accept of ['application/xml', '*/*', 'application/json', 'text/csv;q=0']) {
    const other = await customer.get(path, { headers: { accept } });
    expect([accept, other.text]).toEqual([accept, json.text]);
  }
  for (const call of [NDJSON, CSV]) {
    const head = await customer.head(path, call);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-disposition']).toContain(name);
    expect((await customer.get(`${path}?limit=1`, call)).text.length).toBeLessThan(
      csv.text.length * 2,
    );
    const faulty = await customer.get(`${path}?limit=100001`, call);
    expect([faulty.status, faulty.headers['content-type']]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
    expect(faulty.headers).not.toHaveProperty('content-disposition');
  }
  expect((await customer.get(`${path}?limit=1001`)).status).toBe(400);
});

it('gives nothing of another account', async () => {
  const webhook = await aSubscription(database, account);
  await report('{}');
  for (const path of ['/v1/events', '/v1/deliveries', '/v1/audit']) {
    expect((await stranger.get(path, NDJSON)).text).toBe('');
    expect(linesOf(await stranger.get(path, CSV))).toHaveLength(1);
  }
  expect((await stranger.get(`/v1/webhooks/${webhook}/deliveries`, CSV)).status).toBe(404);
});

it('adds what was sent, and what is sent to targets', async () => {
  const payload = '{"kept": 1.0}';
  await aSubscription(database, account, { name: 'Shop', payload });
  const data = '{"big": 12345678901234567890,\n "big": "é\\u00e9", "formula": "=1"}';
  const event = await report(data);
  const inLine = data.replaceAll('\n', ' ');
  const ndjson = await customer.get('/v1/events?include=data', NDJSON);
  expect(ndjson.text).toContain(`"data":${inLine}}\n`);
  const quoted = `"${data.replaceAll('"', '""')}"`;
  const csv = await customer.get('/v1/events?include=data', CSV);
  expect(csv.text).toContain(`,${quoted}\r\n`);
  expect(csv.text.split('\r\n')[0]).toMatch(/,data$/);
  expect((await customer.get('/v1/events', CSV)).text.split('\r\n')[0]).not.toContain('data');
  const [shown] = (await customer.get('/v1/events?include=data')).json<Schemas['Event'][]>();
  expect(shown).toMatchObject({ id: event, data: { formula: '=1' } });
  expect((await customer.get('/v1/events')).json<object[]>()[0]).not.toHaveProperty('data');
  const deliveries = await customer.get('/v1/deliveries?include=notification', NDJSON);
  const [delivery] = linesOf(deliveries).map((line) => JSON.parse(line) as Schemas['Delivery']);
  expect(delivery!.notification).toMatchObject({
    ...{ id: delivery!.id, name: 'Shop', event: 'cdrCreated', resource: 'call' },
    ...{ accountId: account, payload: { kept: 1 } },
  });
  expect(deliveries.text).toContain(`"data":${inLine},"payload":${payload}}}\n`);
  await database.query('DELETE FROM events');
  const left = linesOf(await customer.get('/v1/deliveries?include=notification', NDJSON));
  expect(left).toHaveLength(1);
  expect(left[0]).not.toContain('"notification"');
  for (const path of ['events?include=notification', 'deliveries?include=data']) {
    expect((await customer.get(`/v1/${path}`)).status).toBe(400);
  }
});

it('exports all that match, and goes on behind any line', async () => {
  const ids = await manyEvents(10_500, 50);
  expect(idsOf(await customer.get('/v1/events', NDJSON))).toEqual(ids);
  expect(idsOf(await customer.get('/v1/events?limit=3', NDJSON))).toEqual(ids.slice(0, 3));
  const rest = await customer.get(`/v1/events?after=${ids[10_000]!}`, NDJSON);
  expect(idsOf(rest)).toEqual(ids.slice(10_001));
  await database.query(`UPDATE events SET event = 'smsdlr' WHERE id <> $1`, [ids.at(-1)]);
  const found = await customer.get('/v1/events?event=cdrCreated', NDJSON);
  expect(idsOf(found)).toEqual([ids.at(-1)]);
  expect(found.headers).not.toHaveProperty('link');
  expect(idsOf(await customer.get('/v1/events?contains=%22n%22%20%3A%2010500', NDJSON))).toEqual([
    ids.at(-1),
  ]);
});

it('exports long data in bounded memory, while a slow client holds no connection', async () => {
  const ids = await manyEvents(300, 120_000);
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    const headers = { ...NDJSON.headers, authorization: basic(auth) };
    request(`${api.url}/v1/events?include=data`, { headers }, resolve).end();
  });
  await sleep(300);
  const used = await database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
  );
  expect(used).toEqual([]);
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  expect(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(ids);
}, 60_000);

it('cuts the connection when a later part fails', async () => {
  await manyEvents(3_000, 2_000);
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    const headers = { ...NDJSON.headers, authorization: basic(auth) };
    request(`${api.url}/v1/events?include=data`, { headers }, resolve).end();
  });
  expect(answer.statusCode).toBe(200);
  await database.query('ALTER TABLE events RENAME TO events_away');
  try {
    await expect(
      (async () => {
        for await (const chunk of answer) expect(chunk).toBeTruthy();
      })(),
    ).rejects.toThrow('aborted');
  } finally {
    await database.query('ALTER TABLE events_away RENAME TO events');
  }
  await eventually(
    () => customer.get('/v1/events?limit=1'),
    ({ status }) => status === 200,
  );
});
