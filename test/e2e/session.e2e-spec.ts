import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { EventStream } from '../support/event-stream.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';
import { answersIn, connectTo } from '../support/raw-connection.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

let database: TestDatabase;
let api: Running;
let secondApi: Running;
let proxied: Running;
let platform: Client;
let browser: Client;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url };
  [api, secondApi, proxied] = await Promise.all([
    apiInProcess(environment),
    apiInProcess(environment),
    apiInProcess({ ...environment, PUBLIC_BASE_URL: 'https://api.example.com' }),
  ]);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  browser = clientOf(api.url);
});
afterAll(async () => {
  await Promise.all([api.stop(), secondApi.stop(), proxied.stop()]);
  await database.drop();
});

interface Customer {
  id: string;
  username: string;
  password: string;
  auth: string;
}

async function aCustomer(): Promise<Customer> {
  const username = `customer-${(customers += 1)}`;
  const { id, auth } = await createUser(database, username);
  return { id, username, password: `${username}-secret`, auth };
}

const logIn = ({ username, password }: Customer, of: Client = browser) =>
  of.post('/v1/session', { username, password }, { headers: SAME_ORIGIN });

/** The name and the value of the cookie that an answer sets. */
const cookieOf = ({ headers }: Answer) => headers['set-cookie']![0]!.split(';', 1)[0]!;

/** The headers of a page of this origin with the session of a new customer. */
async function aSession() {
  const customer = await aCustomer();
  const answer = await logIn(customer);
  return { customer, headers: { ...SAME_ORIGIN, cookie: cookieOf(answer) } };
}

describe('a session', () => {
  it('begins with a username and a password in the body', async () => {
    const customer = await aCustomer();
    const answer = await logIn(customer);
    expect(answer.status).toBe(200);
    const shown = answer.json();
    expect(shown).toMatchObject({
      href: `${api.url}/v1/session`,
      userId: Number(customer.id),
      username: customer.username,
      role: 'account',
    });
    const headers = { ...SAME_ORIGIN, cookie: cookieOf(answer) };
    expect((await browser.get('/v1/session', { headers })).json()).toEqual(shown);
    expect((await clientOf(secondApi.url).get('/v1/webhooks', { headers })).json()).toEqual([]);
  });

  it('begins with Basic credentials, whose challenge only programs get', async () => {
    const { auth } = await aCustomer();
    const answer = await browser.post('/v1/session', undefined, { auth, headers: SAME_ORIGIN });
    expect(answer.status).toBe(200);
    const refused = { auth: 'nobody:wrong-secret' };
    const ofProgram = await browser.get('/v1/session', refused);
    const ofPage = await browser.get('/v1/session', { ...refused, headers: SAME_ORIGIN });
    expect([ofProgram.status, ofPage.status]).toEqual([401, 401]);
    expect(ofProgram.headers['www-authenticate']).toMatch(/^Basic /);
    expect(ofPage.headers['www-authenticate']).toBeUndefined();
  });

  it('does not begin with wrong or missing credentials', async () => {
    const customer = await aCustomer();
    const wrong = await logIn({ ...customer, password: 'wrong-secret' });
    expect(wrong).toMatchObject({ status: 401 });
    expect(wrong.headers['set-cookie']).toBeUndefined();
    expect((await browser.post('/v1/session')).status).toBe(401);
    const { status, json } = await browser.post('/v1/session', { username: 'x' });
    expect(status).toBe(400);
    expect(json()).toMatchObject({ errors: [{ field: 'password', code: 'required' }] });
  });

  it('begins with the longest password, and not with a longer one', async () => {
    const { user, password } = { user: `longest-${(customers += 1)}`, password: '🔑'.repeat(200) };
    const { status } = await platform.post('/v1/users', { username: user, password });
    expect(status).toBe(200);
    const answer = await logIn({ id: '', username: user, password, auth: '' });
    expect(answer.status).toBe(200);
    const auth = `${user}:${password}`;
    expect((await browser.get('/v1/session', { auth })).status).toBe(200);
    const longer = `${password}🔑`;
    const refused = await browser.get('/v1/session', { auth: `${user}:${longer}` });
    expectProblem(refused, { status: 401, code: 'unauthorized' });
    const taken = await platform.post('/v1/users', { username: `${user}-2`, password: longer });
    expectProblem(taken, { status: 400, code: 'validation_failed' });
  });

  it.each<[how: string, encode: (text: string) => Buffer, headers: Record<string, string>]>([
    ['plain', (text) => Buffer.from(text), {}],
    ['gzipped', gzipSync, { 'content-encoding': 'gzip' }],
  ])('begins with a body of at most a kilobyte, %s', async (_how, encode, headers) => {
    const { username, password } = await aCustomer();
    const body = (bytes: number) => encode(JSON.stringify({ username, password }).padEnd(bytes));
    const call = { headers: { ...SAME_ORIGIN, 'content-type': 'application/json', ...headers } };
    const answer = await browser.post('/v1/session', body(1_024), call);
    expect(answer.status).toBe(200);
    const refused = await browser.post('/v1/session', body(1_025), call);
    expectProblem(refused, { status: 413, code: 'body_too_large' });
    expect(refused.headers['connection']).toBe('close');
  });

  it('reads nothing of a longer body, and no more than a kilobyte of one without a length', async () => {
    const head = 'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    for (const [framing, first] of [
      ['Content-Length: 262144', ''],
      ['Transfer-Encoding: chunked', `500\r\n${' '.repeat(0x500)}\r\n`],
      ['Transfer-Encoding: chunked\r\nContent-Encoding: gzip', `500\r\n${' '.repeat(0x500)}\r\n`],
    ] as const) {
      const connection = await connectTo(api.url);
      connection.write(`${head}${framing}\r\n\r\n${first}`);
      await connection.ended;
      const [answer] = answersIn(connection.received());
      expectProblem(answer!, { status: 413, code: 'body_too_large' });
    }
  });

  it('ends at once on all processes within a second when its user logs out', async () => {
    const { headers } = await aSession();
    const second = clientOf(secondApi.url);
    expect((await second.get('/v1/webhooks', { headers })).status).toBe(200);
    const ended = await browser.delete('/v1/session', { headers });
    expect(ended.status).toBe(200);
    expect(ended.headers['set-cookie']![0]).toMatch(
      /^switchhook-session=;.*Expires=Thu, 01 Jan 1970/,
    );
    expect((await browser.get('/v1/session', { headers })).status).toBe(401);
    await delay(1_100);
    expect((await second.get('/v1/webhooks', { headers })).status).toBe(401);
  });

  it('ends within a second when its credential is revoked, with its streams', async () => {
    const { customer, headers } = await aSession();
    const stream = await EventStream.open(`${api.url}/v1/stream`, undefined, headers);
    await delay(1_100);
    const { credentials } = (await platform.get(`/v1/users/${customer.id}`)).json<{
      credentials: { id: string }[];
    }>();
    await platform.delete(`/v1/users/${customer.id}/credentials/${credentials[0]!.id}`);
    await delay(1_100);
    expect((await browser.get('/v1/webhooks', { headers })).status).toBe(401);
    await eventually(
      () => Promise.resolve(stream.ended),
      (ended) => ended,
      { ms: 700 },
    );
  });

  it.each([
    [
      'through the API',
      (id: string, status: string) => platform.put(`/v1/users/${id}`, { status }),
    ],
    [
      'on the command line',
      (id: string, status: string) =>
        runCli(['users', status === 'locked' ? 'lock' : 'unlock', id], {
          env: { DATABASE_URL: database.url },
        }),
    ],
  ])('ends for good when its user is locked %s', async (_, setStatus) => {
    const { customer, headers } = await aSession();
    const other = await aSession();
    const second = clientOf(secondApi.url);
    expect((await second.get('/v1/webhooks', { headers })).status).toBe(200);
    await setStatus(customer.id, 'locked');
    await setStatus(customer.id, 'active');
    await delay(1_100);
    for (const api of [browser, second]) {
      expect((await api.get('/v1/webhooks', { headers })).status).toBe(401);
    }
    expect((await second.get('/v1/webhooks', { headers: other.headers })).status).toBe(200);
    expect((await logIn(customer)).status).toBe(200);
  });

  it('ends after 30 minutes without a request', async () => {
    const { headers } = await aSession();
    await database.query("UPDATE sessions SET used_at = now() - interval '30 minutes'");
    expect((await browser.get('/v1/webhooks', { headers })).status).toBe(401);
  });

  it('is extended by a request, but not by the background requests of an unattended page', async () => {
    const { headers } = await aSession();
    await database.query("UPDATE sessions SET used_at = now() - interval '10 minutes'");
    const isExtended = async () => {
      const [row] = await database.query<{ extended: boolean }>(
        `SELECT used_at > now() - interval '9 minutes' AS extended
         FROM sessions ORDER BY created_at DESC LIMIT 1`,
      );
      return row?.extended;
    };
    // The process that began the session would write nothing for a minute.
    const second = clientOf(secondApi.url);
    const unattended = { ...headers, 'x-unattended': 'true' };
    expect((await second.get('/v1/webhooks', { headers: unattended })).status).toBe(200);
    const stream = await EventStream.open(`${secondApi.url}/v1/stream`, undefined, {
      ...headers,
      accept: 'text/event-stream',
    });
    expect(await isExtended()).toBe(false);
    expect((await second.get('/v1/webhooks', { headers })).status).toBe(200);
    expect(await isExtended()).toBe(true);
    stream.close();
  });

  it('is stored without its token', async () => {
    const { headers } = await aSession();
    const token = headers.cookie.split('=')[1]!;
    const rows = await database.query<{ row: string }>('SELECT s::text AS row FROM sessions s');
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(token);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  });

  it('does not exist for a program with Basic credentials, which gets its user', async () => {
    const { auth, id, username } = await aCustomer();
    expect((await browser.get('/v1/session', { auth })).json()).toEqual({
      href: `${api.url}/v1/session`,
      userId: Number(id),
      username,
      role: 'account',
      scope: 'manage',
    });
    expect((await browser.delete('/v1/session', { auth })).status).toBe(200);
  });

  it('has the rights and the limits of its user', async () => {
    const { headers, customer } = await aSession();
    expect((await browser.get('/v1/users', { headers })).status).toBe(403);
    expect((await browser.get(`/v1/users/${customer.id}`, { headers })).status).toBe(200);
    const body = { name: 'By a page', type: 'voice', voiceUrl: 'https://example.com/' };
    const made = await browser.post('/v1/applications', body, { headers });
    expect(made.headers).toHaveProperty('ratelimit');
  });
});

describe('the cookie of a session', () => {
  it('belongs to this host alone, and no script reads it', async () => {
    const answer = await logIn(await aCustomer(), clientOf(proxied.url));
    expect(answer.headers['set-cookie']![0]).toMatch(
      /^__Host-switchhook-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('needs no TLS on loopback', async () => {
    const answer = await logIn(await aCustomer());
    expect(answer.headers['set-cookie']![0]).toMatch(
      /^switchhook-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['without a page', { 'sec-fetch-site': 'none' }],
    ['of another origin in an old browser', { origin: 'http://127.0.0.1:1' }],
    ['of an origin that is no more than our scheme', { origin: 'http:' }],
    ['of a page without an origin', { origin: 'null' }],
  ])('does not count in a request %s', async (_, from) => {
    const { headers } = await aSession();
    const { cookie } = headers;
    const get = await browser.get('/v1/webhooks', { headers: { cookie, ...from } });
    const put = await browser.delete('/v1/session', { headers: { cookie, ...from } });
    expect([get.status, put.status]).toEqual([401, 401]);
  });

  it('counts in an old browser in a request of this origin', async () => {
    const { cookie } = (await aSession()).headers;
    const headers = { cookie, origin: api.url };
    expect((await browser.get('/v1/webhooks', { headers: { cookie } })).status).toBe(200);
    expect((await browser.delete('/v1/session', { headers: { cookie } })).status).toBe(401);
    expect((await browser.delete('/v1/session', { headers })).status).toBe(200);
  });

  it('counts less than Basic credentials', async () => {
    const { headers } = await aSession();
    const { auth, username } = await aCustomer();
    const answer = await browser.get(`/v1/users/${username}`, { auth, headers });
    expect(answer.status).toBe(200);
  });
});
