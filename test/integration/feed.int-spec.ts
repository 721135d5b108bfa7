import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { partitionsOf } from '../support/past.js';
import { anApplication } from '../support/rows.js';

const NDJSON = { headers: { accept: 'application/x-ndjson' } };

let database: TestDatabase;
let apis: InProcess[];
let customers = 0;
let account: string;
let auth: string;
let customer: Client;
let stranger: Client;
let platform: Client;
let operator: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, PUBLIC_BASE_URL: 'https://api.example' };
  apis = await Promise.all([apiInProcess(environment), apiInProcess(environment)]);
  const { url } = apis[0]!;
  stranger = clientOf(url, (await createUser(database, 'stranger')).auth);
  platform = clientOf(url, (await createUser(database, 'switch', 'platform')).auth);
  operator = clientOf(url, (await createUser(database, 'operator', 'operator')).auth);
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await database.drop();
});

/** Each test has its own customer. */
async function aCustomer(): Promise<void> {
  ({ id: account, auth } = await createUser(database, `customer-${(customers += 1)}`));
  customer = clientOf(apis[0]!.url, auth);
}

async function report(fields: object = {}): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: account, data: { n: 1 } };
  const answer = await platform.post('/v1/events', { ...event, ...fields });
  expect(answer.status).toBe(202);
  return answer.json<{ id: string }>().id;
}

const cursorOf = ({ headers }: Answer) => String(headers['switchhook-cursor']);
const idsOf = (answer: Answer) => answer.json<{ id: string }[]>().map(({ id }) => id);
const now = async () => cursorOf(await customer.get('/v1/feed'));

/** Reads on until there is nothing more. @returns the ids of all events */
async function readAll(client: Client, start: string, query = ''): Promise<string[]> {
  const ids: string[] = [];
  for (let after = start; ;) {
    const answer = await client.get(`/v1/feed?after=${after}${query}`);
    expect(answer.status).toBe(200);
    if (idsOf(answer).length === 0) return ids;
    ids.push(...idsOf(answer));
    after = cursorOf(answer);
  }
}

describe('a page of the feed', () => {
  it('begins now, and goes on with the events that come', async () => {
    await aCustomer();
    await report();
    const empty = await customer.get('/v1/feed');
    expect([empty.status, empty.text]).toEqual([200, '[]']);
    const start = cursorOf(empty);
    expect(empty.headers.link).toBe(`<https://api.example/v1/feed?after=${start}>; rel="next"`);
    const data = '{"big": 12345678901234567890,\n "big": "é\\u00e9"}';
    const body = `{"event":"smsdlr","resource":"sms","accountId":"${account}","id":"key","data":${data}}`;
    const reported = await platform.post('/v1/events', body);
    const { id } = reported.json<{ id: string }>();
    const page = await customer.get(`/v1/feed?after=${start}`);
    const [event] = page.json<Schemas['EventWithData'][]>();
    expect(event).toMatchObject({ id, event: 'smsdlr', resource: 'sms', producerId: 'key' });
    expect(event).toMatchObject({
      accountId: Number(account),
      href: `https://api.example/v1/events/${id}`,
    });
    expect(page.text).toContain(`"data":${data}`);
    expect(cursorOf(page) > id).toBe(true);
    expect(idsOf(await customer.get(`/v1/feed?after=${cursorOf(page)}`))).toEqual([]);
    expect(idsOf(await customer.get(`/v1/feed?after=${id}`))).toEqual([]);
    expect(page.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
  });

  it('has at most as many events as asked for, oldest first, and the address of the next', async () => {
    await aCustomer();
    const start = await now();
    const ids = [await report(), await report(), await report()];
    const first = await customer.get(`/v1/feed?after=${start}&limit=2&event=cdrCreated`);
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    expect(cursorOf(first)).toBe(ids[1]);
    const [, next = ''] =
      /<https:\/\/api.example(.*)>; rel="next"/.exec(first.headers.link as string) ?? [];
    expect(next).toContain('limit=2');
    expect(idsOf(await customer.get(next))).toEqual(ids.slice(2));
  });

  it('is lines of JSON if the client prefers them, with the same headers', async () => {
    await aCustomer();
    const start = await now();
    const ids = [await report(), await report()];
    const lines = await customer.get(`/v1/feed?after=${start}&limit=1`, NDJSON);
    expect(lines.headers).toMatchObject({
      ...{ 'content-type': 'application/x-ndjson', 'switchhook-cursor': ids[0]! },
      ...{ vary: expect.stringContaining('Accept') as string },
    });
    expect(lines.headers.link).toContain(`after=${ids[0]!}`);
    expect(lines.text.split('\n')).toHaveLength(2);
    expect(JSON.parse(lines.text)).toMatchObject({ id: ids[0], data: { n: 1 } });
    const none = await customer.get(
      `/v1/feed?after=${cursorOf(await customer.get(`/v1/feed`))}`,
      NDJSON,
    );
    expect([none.status, none.text]).toEqual([200, '']);
  });

  it('ends at about 1 MiB, in either type', async () => {
    await aCustomer();
    const start = await now();
    const ids: string[] = [];
    for (let n = 0; n < 15; n += 1)
      ids.push(await report({ data: { n, filler: 'x'.repeat(100_000) } }));
    for (const call of [{}, NDJSON]) {
      const page = await customer.get(`/v1/feed?after=${start}`, call);
      expect(page.text.length).toBeGreaterThan(1_000_000);
      expect(page.text.length).toBeLessThan(1_300_000);
      const count = page.text.match(/"href"/g)!.length;
      expect(cursorOf(page)).toBe(ids[count - 1]);
    }
    expect(await readAll(customer, start)).toEqual(ids);
  });

  it('answers HEAD with the same headers', async () => {
    await aCustomer();
    const start = await now();
    const id = await report();
    const head = await customer.head(`/v1/feed?after=${start}&limit=1`);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(cursorOf(head) > id).toBe(true);
    expect(head.headers.link).toContain('rel="next"');
  });

  it('has the events that filters select, and no tests', async () => {
    await aCustomer();
    const start = await now();
    const applicationId = await anApplication(database, account);
    const ids = [
      await report({ event: 'smsdlr', resource: 'sms' }),
      await report({ applicationId, data: { call: 'needle' } }),
      await report({ id: 'key+1' }),
    ];
    const webhook = await customer.post('/v1/webhooks', {
      ...{ event: 'cdrCreated', resource: 'all', targetUrl: 'https://t.example/' },
    });
    const { href } = webhook.json<{ href: string }>();
    const path = new URL(href).pathname;
    expect((await customer.post(`${path}/test`)).status).toBe(202);
    const found = (query: string) => readAll(customer, start, `&${query}`);
    expect(await found('limit=1')).toEqual(ids);
    expect(await found('event=smsdlr')).toEqual([ids[0]]);
    expect(await found('resource=call')).toEqual(ids.slice(1));
    expect(await found(`applicationId=${applicationId}`)).toEqual([ids[1]]);
    expect(await found('contains=needle')).toEqual([ids[1]]);
    expect(await found('producerId=key%2B1')).toEqual([ids[2]]);
    expect(await found(`accountId=${account}`)).toEqual(ids);
    expect(await found('event=nothing')).toEqual([]);
  });

  it.each([
    ['after=1', 'after', 'format'],
    ['since=yesterday', 'since', 'format'],
    ['wait=0', 'wait', 'range'],
    ['wait=31', 'wait', 'range'],
    ['limit=1001', 'limit', 'range'],
    ['contains=ab', 'contains', 'length'],
    ['wait=1&wait=2', 'wait', 'not_allowed'],
  ])('refuses %s', async (query, field, code) => {
    await aCustomer();
    const answer = await customer.get(`/v1/feed?${query}`);
    expect([answer.status, answer.json<Schemas['Problem']>().errors]).toEqual([
      400,
      [expect.objectContaining({ field, code })],
    ]);
  });
});

describe('who follows', () => {
  it('gets its own events; operators those of all accounts, or of one', async () => {
    await aCustomer();
    const start = await now();
    const id = await report();
    const others = await report({
      accountId: undefined,
      applicationId: await applicationOfStranger(),
    });
    expect(await readAll(customer, start)).toEqual([id]);
    expect(await readAll(stranger, start)).toEqual([others]);
    expect(await readAll(stranger, start, `&accountId=${account}`)).toEqual([]);
    for (const by of [platform, operator]) {
      expect(await readAll(by, start)).toEqual([id, others]);
      expect(await readAll(by, start, `&accountId=${account}`)).toEqual([id]);
    }
    expect((await clientOf(apis[0]!.url).get('/v1/feed')).status).toBe(401);
  });

  async function applicationOfStranger(): Promise<string> {
    const made = await stranger.post('/v1/applications', {
      name: 'a',
      voiceUrl: 'https://v.example/',
    });
    return made.json<{ href: string }>().href.split('/').at(-1)!;
  }
});

describe('where it begins', () => {
  it('is a time, or the oldest event that is kept', async () => {
    await aCustomer();
    const before = new Date(Date.now() - 1_000).toISOString();
    const ids = [await report(), await report()];
    const [row] = await database.query<{ at: Date }>(
      'SELECT created_at AS at FROM events WHERE id = $1',
      [ids[1]],
    );
    expect(idsOf(await customer.get(`/v1/feed?since=${before}`))).toEqual(ids);
    const later = new Date(row!.at.getTime() + 1).toISOString();
    expect(idsOf(await customer.get(`/v1/feed?since=${later}`))).toEqual([]);
    expect(idsOf(await customer.get('/v1/feed?since=2020-01-01T00:00:00Z'))).toEqual(ids);
    // The cursor counts, as it does in the address of the next page.
    expect(idsOf(await customer.get(`/v1/feed?since=${before}&after=${ids[0]!}`))).toEqual([
      ids[1],
    ]);
  });

  it('is not a cursor behind which events are no longer kept: 410 names the oldest that works', async () => {
    await aCustomer();
    await partitionsOf(database, 35);
    await partitionsOf(database, 10);
    const old = '01900000-0000-7000-8000-000000000000';
    const refused = await customer.get(`/v1/feed?after=${old}`);
    const { status, code, error, oldest } = refused.json<Schemas['Problem']>();
    expect([refused.status, status, code]).toEqual([410, 410, 'cursor_expired']);
    expect(error).toContain(oldest);
    expect(Date.now() - parseInt(oldest!.replace('-', '').slice(0, 12), 16)).toBeLessThan(
      11 * 86_400_000,
    );
    const id = await report();
    expect(idsOf(await customer.get(`/v1/feed?after=${oldest!}`))).toEqual([id]);
    expect((await customer.get(`/v1/feed?wait=1&after=${old}`)).status).toBe(410);
  });

  it('may be ahead, as after a restore of an older backup: the cursor stays', async () => {
    await aCustomer();
    const ahead = cursorIn(60 * 60_000);
    await report();
    const answer = await customer.get(`/v1/feed?after=${ahead}`);
    expect([answer.text, cursorOf(answer)]).toEqual(['[]', ahead]);
  });

  it.each([
    ['no cursor', () => '1'],
    ['more than a day ahead', () => cursorIn(25 * 60 * 60_000)],
  ])('is refused if it is %s', async (_, after) => {
    await aCustomer();
    for (const query of ['', '&wait=1']) {
      const { status, json } = await customer.get(`/v1/feed?after=${after()}${query}`);
      expect([status, json<Schemas['Problem']>().error]).toEqual([
        400,
        'The query parameter after must be a cursor, as in the header Switchhook-Cursor.',
      ]);
    }
  });

  /** A cursor so many ms from now. */
  function cursorIn(ms: number): string {
    const time = (Date.now() + ms).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
  }
});

describe('waiting', () => {
  it('ends as soon as there is an event, within a second of its acceptance', async () => {
    await aCustomer();
    let after = await now();
    for (let n = 0; n < 5; n += 1) {
      const answer = customer.get(`/v1/feed?wait=20&after=${after}`);
      await sleep(n * 60);
      const id = await report();
      const accepted = performance.now();
      expect(idsOf(await answer)).toEqual([id]);
      expect(performance.now() - accepted).toBeLessThan(1_000);
      after = cursorOf(await answer);
    }
  });

  it('works for the platform, and for whom a filter leaves nothing', async () => {
    await aCustomer();
    const after = await now();
    const all = platform.get(`/v1/feed?wait=20&after=${after}`);
    const filtered = customer.get(`/v1/feed?wait=2&event=smsdlr&after=${after}`);
    await sleep(300);
    const id = await report();
    expect(idsOf(await all)).toEqual([id]);
    const none = await filtered;
    expect(none.text).toBe('[]');
    expect(cursorOf(none) > id).toBe(true);
  });

  it('ends with nothing after its time, with a cursor to go on', async () => {
    await aCustomer();
    const begin = performance.now();
    const answer = await customer.get('/v1/feed?wait=1', NDJSON);
    expect(performance.now() - begin).toBeGreaterThan(900);
    expect([answer.status, answer.text]).toEqual([200, '']);
    const id = await report();
    expect(idsOf(await customer.get(`/v1/feed?after=${cursorOf(answer)}`))).toEqual([id]);
  });

  it('ends with 401 when the password is revoked', async () => {
    await aCustomer();
    const after = await now();
    const answer = customer.get(`/v1/feed?wait=20&after=${after}`);
    await sleep(100);
    await database.query('DELETE FROM credentials WHERE user_id = $1', [account]);
    expect((await answer).status).toBe(401);
  });

  it('is refused for the 21st request of an account, and no other notices', async () => {
    await aCustomer();
    const after = await now();
    const all = Array.from({ length: 21 }, () => customer.get(`/v1/feed?wait=30&after=${after}`));
    const refused = await Promise.race(all);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    expect((await customer.get(`/v1/feed?after=${after}`)).status).toBe(200);
    const other = stranger.get('/v1/feed?wait=1');
    expect((await other).status).toBe(200);
    const id = await report();
    const waited = (await Promise.all(all)).filter((answer) => answer !== refused);
    expect(waited.map(idsOf)).toEqual(Array.from({ length: 20 }, () => [id]));
  });

  it('ends at once when the process stops', async () => {
    await aCustomer();
    const api = await apiInProcess({ DATABASE_URL: database.url });
    const answer = clientOf(api.url, auth).get('/v1/feed?wait=30');
    await sleep(500);
    const begin = performance.now();
    await api.stop();
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect((await answer).text).toBe('[]');
  });
});

it('shows every event once and in one order, whichever API is asked, while eight write', async () => {
  await aCustomer();
  const start = await now();
  let writing = true;
  const write = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < 25; n += 1) ids.push(await report({ data: { n } }));
    return ids;
  };
  const follow = async (first: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let [after, turn] = [start, first]; ; turn += 1) {
      const wasWriting = writing;
      const client = clientOf(apis[turn % apis.length]!.url, auth);
      const answer = await client.get(`/v1/feed?wait=1&limit=7&after=${after}`);
      ids.push(...idsOf(answer));
      after = cursorOf(answer);
      if (!wasWriting && idsOf(answer).length === 0) return ids;
    }
  };
  const written = Promise.all(Array.from({ length: 8 }, write)).finally(() => (writing = false));
  const [one, other, ids] = await Promise.all([follow(0), follow(1), written]);
  expect(one).toEqual(other);
  expect(one.toSorted()).toEqual(ids.flat().sort());
});
