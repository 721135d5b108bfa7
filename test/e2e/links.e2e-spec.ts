import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { startApi } from '../support/processes.js';
import { expectProblem } from '../support/problem.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
const PORTAL = 'https://portal.example.com';

let database: TestDatabase;
let api: Running;
/** Its console may be shown in frames of {@link PORTAL}. */
let framed: Running;
let platform: Client;
let browser: Client;
let users = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url };
  [api, framed] = await Promise.all([
    apiInProcess(environment),
    apiInProcess({
      ...environment,
      CONSOLE_FRAME_ANCESTORS: `${PORTAL},https://admin.example.com`,
      PUBLIC_BASE_URL: 'https://api.example.com/hooks',
    }),
  ]);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  browser = clientOf(api.url);
});
afterAll(async () => {
  await Promise.all([api.stop(), framed.stop()]);
  await database.drop();
});

async function aCustomer() {
  const username = `customer-${(users += 1)}`;
  const { id, auth } = await createUser(database, username);
  return { id, username, auth, client: clientOf(api.url, auth) };
}

interface Link {
  url: string;
  expiresAt: string;
}

async function aLink(
  username: string,
  body: object = {},
  by = platform,
): Promise<Link & { link: string }> {
  const answer = await by.post(`/v1/users/${username}/links`, body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const made = answer.json<Link>();
  return { ...made, link: made.url.split('#link=')[1]! };
}

/** A new credential of a user. @returns its path and a client with it */
async function aCredentialOf(by: Client, username: string, fields: object = {}) {
  const answer = await by.post(`/v1/users/${username}/credentials`, fields);
  const { href, password } = answer.json<{ href: string; password: string }>();
  return { path: new URL(href).pathname, client: clientOf(api.url, `${username}:${password}`) };
}

const open = (link: string, of: Client = browser) =>
  of.post('/v1/session', { link }, { headers: SAME_ORIGIN });

/** The headers of a page of this origin with the session that an answer began. */
const sessionOf = ({ headers }: Answer) => ({
  headers: { ...SAME_ORIGIN, cookie: headers['set-cookie']!.at(-1)!.split(';', 1)[0]! },
});

describe('a link', () => {
  it('has the address of a page of the console, with the token in the fragment', async () => {
    const { username, client } = await aCustomer();
    const before = Date.now();
    const { url, expiresAt } = await aLink(username, {}, client);
    expect(url).toMatch(new RegExp(`^${api.url}/console/#link=[\\w-]{43}$`));
    expect(Math.abs(Date.parse(expiresAt) - before - 3_600_000)).toBeLessThan(60_000);
    const page = await aLink(username, { path: '/deliveries?state=parked', expiresIn: 60 });
    expect(page.url).toMatch(/\/console\/deliveries\?state=parked#link=/);
    expect(Math.abs(Date.parse(page.expiresAt) - Date.now() - 60_000)).toBeLessThan(30_000);
    const proxied = clientOf(framed.url, `${username}:${username}-secret`);
    const { url: prefixed } = await aLink(username, { path: '/events' }, proxied);
    expect(prefixed).toMatch(/^https:\/\/api\.example\.com\/hooks\/console\/events#link=/);
  });

  it('opens the console as its user, once, with its scope', async () => {
    const { id, username, client } = await aCustomer();
    const { link, expiresAt } = await aLink(username, { expiresIn: 900 }, client);
    const opened = await open(link);
    expect(opened.status).toBe(200);
    const shown = { userId: Number(id), username, scope: 'read', byLink: true };
    expect(opened.json()).toMatchObject(shown);
    expect(opened.json<Link>().expiresAt <= expiresAt).toBe(true);
    const session = sessionOf(opened);
    expect((await browser.get('/v1/webhooks', session)).status).toBe(200);
    expect((await browser.post('/v1/webhooks', {}, session)).status).toBe(403);
    const again = await open(link);
    expect([again.status, again.json<{ error: string }>().error]).toEqual([
      401,
      'The link has been used or has expired.',
    ]);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect((await browser.get('/v1/webhooks', session)).status).toBe(200);
  });

  it('has every default without members', async () => {
    const { username, client } = await aCustomer();
    const answer = await client.post(`/v1/users/${username}/links`, {});
    expect(answer.status).toBe(200);
    const { url, expiresAt } = answer.json<Link>();
    expect(url).toMatch(/\/console\/#link=/);
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect((await open(url.split('#link=')[1]!)).json()).toMatchObject({ scope: 'read' });
  });

  it('of the scope manage may change things', async () => {
    const { username, client } = await aCustomer();
    const session = sessionOf(
      await open((await aLink(username, { scope: 'manage' }, client)).link),
    );
    expect((await browser.post('/v1/webhooks', {}, session)).status).toBe(400);
  });

  it('begins one session, however many open it at once', async () => {
    const { username } = await aCustomer();
    const { link } = await aLink(username);
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array<number>(7).fill(401),
    ]);
  });

  it('expires, and so does its session', async () => {
    const { username } = await aCustomer();
    const [unused, used] = [await aLink(username), await aLink(username)];
    const session = sessionOf(await open(used.link));
    expect((await browser.get('/v1/webhooks', session)).status).toBe(200);
    await database.query('UPDATE links SET ends_at = now()');
    await delay(1_100);
    expect((await open(unused.link)).status).toBe(401);
    expect((await browser.get('/v1/webhooks', session)).status).toBe(401);
  });

  it('ends with its session when its user is locked, and none is created meanwhile', async () => {
    const { id, username } = await aCustomer();
    const [unused, used] = [await aLink(username), await aLink(username)];
    const session = sessionOf(await open(used.link));
    await platform.put(`/v1/users/${id}`, { status: 'locked' });
    const refused = await platform.post(`/v1/users/${id}/links`, {});
    expectProblem(refused, { status: 409, code: 'user_not_active' });
    await platform.put(`/v1/users/${id}`, { status: 'active' });
    await delay(1_100);
    expect((await open(unused.link)).status).toBe(401);
    expect((await browser.get('/v1/webhooks', session)).status).toBe(401);
  });

  it('ends, with its session, when the credential that made it is revoked', async () => {
    const { id, username, client } = await aCustomer();
    const leaked = await aCredentialOf(platform, 'switch');
    const [unused, used] = [
      await aLink(username, {}, leaked.client),
      await aLink(username, {}, leaked.client),
    ];
    const kept = sessionOf(await open((await aLink(username, {}, client)).link));
    const session = sessionOf(await open(used.link));
    expect((await browser.get('/v1/webhooks', session)).status).toBe(200);
    expect((await platform.delete(leaked.path)).status).toBe(200);
    await delay(1_100);
    expect((await open(unused.link)).status).toBe(401);
    expect((await browser.get('/v1/webhooks', session)).status).toBe(401);
    expect((await browser.get('/v1/webhooks', kept)).status).toBe(200);
    expect((await platform.get(`/v1/users/${id}`)).json()).toMatchObject({ status: 'active' });
  });

  it('ends when the credential that made it expires', async () => {
    const { username, client } = await aCustomer();
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const own = await aCredentialOf(client, username, { expiresAt });
    expect((await aLink(username, {}, own.client)).expiresAt).toBe(expiresAt);
    const link = await aLink(username, { expiresIn: 5 }, own.client);
    expect(link.expiresAt < expiresAt).toBe(true);
  });

  it.each([
    ['locked', (id: string) => platform.put(`/v1/users/${id}`, { status: 'locked' })],
    ['closed', (id: string) => platform.delete(`/v1/users/${id}`)],
  ])('ends, with its session, when the operator who made it is %s', async (how, end) => {
    const { username } = await aCustomer();
    const { id, auth } = await createUser(database, `operator-${how}`, 'operator');
    const operator = clientOf(api.url, auth);
    const [unused, used] = [
      await aLink(username, {}, operator),
      await aLink(username, {}, operator),
    ];
    const session = sessionOf(await open(used.link));
    expect((await browser.get('/v1/webhooks', session)).status).toBe(200);
    await end(id);
    await delay(1_100);
    expect((await open(unused.link)).status).toBe(401);
    expect((await browser.get('/v1/webhooks', session)).status).toBe(401);
  });

  it('is not created by a session that began with a link', async () => {
    const { username, client } = await aCustomer();
    const { link } = await aLink(username, { scope: 'manage' }, client);
    const session = sessionOf(await open(link));
    const refused = await browser.post(`/v1/users/${username}/links`, {}, session);
    expectProblem(refused, { status: 403, code: 'forbidden' });
    expect(refused.json<{ error: string }>().error).toBe(
      'A session that began with a link cannot create links.',
    );
    const pair = { username, password: `${username}-secret` };
    const login = sessionOf(await browser.post('/v1/session', pair, { headers: SAME_ORIGIN }));
    expect((await browser.post(`/v1/users/${username}/links`, {}, login)).status).toBe(200);
  });

  it('is created only by its user and by operators, and for users who have a console', async () => {
    const [{ username }, other] = [await aCustomer(), await aCustomer()];
    const reporter = await createUser(database, 'reporter', 'reporter');
    const operator = clientOf(api.url, (await createUser(database, 'operator', 'operator')).auth);
    const path = `/v1/users/${username}/links`;
    expect((await other.client.post(path, {})).status).toBe(404);
    expect((await clientOf(api.url, reporter.auth).post(path, {})).status).toBe(403);
    expect((await operator.post(path, {})).status).toBe(200);
    for (const [of, error] of [
      ['switch', 'Only a user with the role platform may create links for one.'],
      ['reporter', 'A user with the role reporter may only report events.'],
    ]) {
      const refused = await operator.post(`/v1/users/${of}/links`, {});
      expect([refused.status, refused.json<{ error: string }>().error]).toEqual([403, error]);
    }
    expect((await platform.post('/v1/users/switch/links', {})).status).toBe(200);
    expect((await platform.post('/v1/users/nobody/links', {})).status).toBe(404);
  });

  it.each([
    [{ path: 'deliveries' }, 'path format'],
    [{ path: 'https://evil.example.com/' }, 'path format'],
    [{ path: '/deliveries#link=x' }, 'path format'],
    [{ path: '/../v1/users' }, 'path format'],
    [{ path: '/%2e%2e/v1/users' }, 'path format'],
    [{ path: '/\\evil.example.com' }, 'path format'],
    [{ path: '/a b' }, 'path format'],
    [{ path: '' }, 'path length'],
    [{ path: 5 }, 'path type'],
    [{ expiresIn: 0 }, 'expiresIn range'],
    [{ expiresIn: 3_601 }, 'expiresIn range'],
    [{ expiresIn: '60' }, 'expiresIn type'],
    [{ scope: 'write' }, 'scope choice'],
    [{ expiresin: 60 }, 'expiresin not_allowed'],
  ])('is refused with %j', async (body, fault) => {
    const { username, client } = await aCustomer();
    const answer = await client.post(`/v1/users/${username}/links`, body);
    expectProblem(answer, { status: 400, code: 'validation_failed', faults: [fault] });
  });

  it('leaves its token in no row, no entry and no log', async () => {
    const { id, username } = await aCustomer();
    const process = await startApi({ DATABASE_URL: database.url });
    try {
      const own = clientOf(process.url, `${username}:${username}-secret`);
      const { link } = await aLink(username, { path: '/events' }, own);
      expect((await open(link, clientOf(process.url))).status).toBe(200);
      expect((await open(link, clientOf(process.url))).status).toBe(401);
      const rows = await database.query<{ row: string }>(
        `SELECT l::text AS row FROM links l UNION ALL SELECT s::text FROM sessions s
         UNION ALL SELECT a::text FROM audit a`,
      );
      for (const text of [process.output(), ...rows.map(({ row }) => row)]) {
        expect(text).not.toContain(link);
      }
      expect(process.output()).toContain(`/v1/users/${username}/links`);
    } finally {
      await process.stop();
    }
    const entries = (await platform.get(`/v1/audit?accountId=${id}`)).json<
      { action: string; resourceId: string }[]
    >();
    expect(entries.map(({ action }) => action)).toEqual(['session.create', 'link.create']);
    expect(entries[0]!.resourceId).toBe(entries[1]!.resourceId);
  });

  it('is removed after it has ended, when others are created', async () => {
    const { username } = await aCustomer();
    await aLink(username);
    await database.query("UPDATE links SET ends_at = now() - interval '1 minute'");
    const count = async () =>
      (await database.query<{ n: number }>('SELECT count(*)::integer AS n FROM links'))[0]!.n;
    const before = await count();
    for (let more = 0; more <= before / 10; more += 1) await aLink(username);
    expect(await count()).toBeLessThanOrEqual(before / 10 + 1);
  });

  it('refuses an unknown token, and one that is too long, in the same words', async () => {
    for (const link of ['x', 'x'.repeat(43), 'x'.repeat(500)]) {
      const { error } = (await open(link)).json<{ error: string }>();
      expect(error).toBe('The link has been used or has expired.');
    }
    const both = await browser.post('/v1/session', {});
    expectProblem(both, {
      status: 400,
      code: 'validation_failed',
      faults: ['username required', 'password required'],
    });
  });
});

describe('the cookie', () => {
  it('of a link works only at home, if no page may show the console', async () => {
    const { username } = await aCustomer();
    const { headers } = await open((await aLink(username)).link);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^switchhook-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  it('of a link works in a frame, if a page may show the console', async () => {
    const { username } = await aCustomer();
    const { headers } = await open((await aLink(username)).link, clientOf(framed.url));
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-switchhook-session=; .*SameSite=Strict$/),
      expect.stringMatching(
        /^__Host-switchhook-session=[\w-]{43}; Path=\/; HttpOnly; Secure; Partitioned; SameSite=None$/,
      ),
    ]);
  });

  it('of a password works only at home, even if a page may show the console', async () => {
    const { username } = await aCustomer();
    const pair = { username, password: `${username}-secret` };
    const answer = await clientOf(framed.url).post('/v1/session', pair, { headers: SAME_ORIGIN });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-switchhook-session=; .*Partitioned; SameSite=None$/),
      expect.stringMatching(
        /^__Host-switchhook-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      ),
    ]);
    const ended = await clientOf(framed.url).delete('/v1/session', sessionOf(answer));
    expect(ended.headers['set-cookie']).toHaveLength(2);
  });

  it('counts only in requests of pages of this origin, in a frame, too', async () => {
    const { username } = await aCustomer();
    const { headers } = sessionOf(await open((await aLink(username)).link, clientOf(framed.url)));
    const statusFrom = async (from: object) =>
      (
        await clientOf(framed.url).get('/v1/webhooks', {
          headers: { cookie: headers.cookie, ...from },
        })
      ).status;
    expect(await statusFrom(SAME_ORIGIN)).toBe(200);
    expect(await statusFrom({ 'sec-fetch-site': 'cross-site' })).toBe(401);
    expect(await statusFrom({ origin: PORTAL })).toBe(401);
  });
});

describe('the console', () => {
  it.each([
    ['no page, unless one is named', () => api, "'none'", 'DENY'],
    ['the named origins alone', () => framed, `${PORTAL} https://admin.example.com`, undefined],
  ] as const)('may be shown in frames by %s', async (_, of, ancestors, legacy) => {
    const { status, headers } = await clientOf(of().url).get('/console/deliveries');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain(`frame-ancestors ${ancestors};`);
    expect(headers['x-frame-options']).toBe(legacy);
  });
});
