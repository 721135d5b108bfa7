import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';

interface Problem {
  code: string;
  error: string;
  errors?: { field: string; code: string }[];
}

let database: TestDatabase;
let api: ServiceProcess;
let secondApi: ServiceProcess;
let demo: Client;
let platform: Client;
let anyone: Client;
let demoId: string;
let platformAuth: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const [account, operator] = await Promise.all([
    createUser(database, 'demo'),
    createUser(database, 'switch', 'platform'),
  ]);
  [api, secondApi] = await Promise.all([
    startApi({ DATABASE_URL: database.url }),
    startApi({ DATABASE_URL: database.url }),
  ]);
  demoId = account.id;
  platformAuth = operator.auth;
  demo = clientOf(api.url, account.auth);
  platform = clientOf(api.url, operator.auth);
  anyone = clientOf(api.url);
});
afterAll(async () => {
  await Promise.all([api.stop(), secondApi.stop()]);
  await database.drop();
});

/** Creates a user for one test, so that locking it disturbs no other test. */
async function aUser(username: string): Promise<{ id: string; auth: string }> {
  return createUser(database, username);
}

describe('credentials', () => {
  it('that are wrong are always refused with the same answer', async () => {
    const locked = await aUser('locked');
    await platform.put(`/v1/users/${locked.id}`, { status: 'locked' });
    const answers = await Promise.all([
      anyone.get('/v1/users/demo', { auth: 'demo:wrong-secret' }),
      anyone.get('/v1/users/demo', { auth: 'nobody:demo-secret' }),
      anyone.get('/v1/users/demo', { auth: locked.auth }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Basic realm="switchhook", charset="UTF-8"');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.json()).toEqual({ ...answers[0].json(), requestId: answer.json().requestId });
      expect(answer.json()).toMatchObject({ code: 'unauthorized', status: 401 });
    }
  });

  it('are required under /v1/, even for unknown paths and methods, and nowhere else', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nope', '/v1//users', '/v1/users/%']) {
      expect([path, (await anyone.get(path)).status]).toEqual([path, 401]);
      expect([path, (await demo.get(path)).status]).toEqual([path, 404]);
    }
    expect((await anyone.put('/v1/users', {})).status).toBe(401);
    for (const path of ['/nope', '/v2/users', '/V1/users', '/v1x', '//v1/users']) {
      expect([path, (await anyone.get(path)).status]).toEqual([path, 404]);
    }
    expect((await anyone.get('/health/live')).status).toBe(200);
    expect((await anyone.get('/health/ready')).status).toBe(200);
  });

  it('may contain any Unicode and colons', async () => {
    const made = await platform.post('/v1/users', {
      username: 'unicode',
      password: 'a:b:ünïcode 🔑',
    });
    expect(made.status).toBe(200);
    const mine = await anyone.get('/v1/users/unicode', { auth: 'unicode:a:b:ünïcode 🔑' });
    expect(mine.status).toBe(200);
    const wrong = await anyone.get('/v1/users/unicode', { auth: 'unicode:a' });
    expect(wrong.status).toBe(401);
  });

  it('may be ISO 8859-1, which is the same password and the same cached login', async () => {
    const password = 'pässwörd £20';
    expect((await platform.post('/v1/users', { username: 'latin', password })).status).toBe(200);
    const header = (encoding: BufferEncoding, pair: string) => ({
      headers: { authorization: `Basic ${Buffer.from(pair, encoding).toString('base64')}` },
    });
    for (const encoding of ['latin1', 'utf8', 'latin1'] as const) {
      const sent = header(encoding, `latin:${password}`);
      expect((await anyone.get('/v1/users/latin', sent)).status).toBe(200);
    }
    const session = await anyone.post(
      '/v1/session',
      undefined,
      header('latin1', `latin:${password}`),
    );
    expect(session.status).toBe(200);
    const wrong = header('latin1', 'latin:passwörd £20');
    expect((await anyone.get('/v1/users/latin', wrong)).status).toBe(401);
    expect((await anyone.get('/v1/users/latin', header('latin1', 'lätin:x'))).status).toBe(401);
  });

  it('stop working within about a second on every process when they are revoked', async () => {
    const { id, auth } = await aUser('revoked');
    const clients = [clientOf(api.url, auth), clientOf(secondApi.url, auth)];
    const show = () => Promise.all(clients.map((client) => client.get(`/v1/users/${id}`)));
    const [first] = await show();
    const [credential] = first!.json<{ credentials: { id: string }[] }>().credentials;
    const added = await platform.post(`/v1/users/${id}/credentials`, { password: 'the new one' });
    const removed = await platform.delete(`/v1/users/${id}/credentials/${credential!.id}`);
    expect(removed.json()).toEqual({ message: 'delete successful' });
    await delay(1_100);
    expect((await show()).map(({ status }) => status)).toEqual([401, 401]);
    const fresh = await anyone.get(`/v1/users/${id}`, { auth: 'revoked:the new one' });
    expect(fresh.json<{ credentials: object[] }>().credentials).toMatchObject([
      { id: added.json<{ href: string }>().href.split('/').at(-1) },
    ]);
  });

  it('stop working within about a second on every process when they expire', async () => {
    const { id } = await aUser('expiring');
    const body = { password: 'for a while', expiresAt: '2099-12-31T23:59:59Z' };
    const added = await platform.post(`/v1/users/${id}/credentials`, body);
    const { href } = added.json<{ href: string }>();
    const auth = 'expiring:for a while';
    const show = () =>
      Promise.all([api, secondApi].map(({ url }) => clientOf(url, auth).get(`/v1/users/${id}`)));
    expect((await show()).map(({ status }) => status)).toEqual([200, 200]);
    const shown = await platform.get(new URL(href).pathname);
    expect(shown.json()).toMatchObject({ href, expiresAt: '2099-12-31T23:59:59.000Z' });
    // They expire by PostgreSQL's clock.
    await database.query('UPDATE credentials SET expires_at = now() WHERE id = $1', [
      href.split('/').at(-1),
    ]);
    await delay(1_100);
    expect((await show()).map(({ status }) => status)).toEqual([401, 401]);
    expect((await platform.get(new URL(href).pathname)).json()).toHaveProperty('expiresAt');
    const first = await anyone.get(`/v1/users/${id}`, { auth: 'expiring:expiring-secret' });
    expect(first.status).toBe(200);
  });

  it('can only expire in the future', async () => {
    const { id } = await aUser('ending');
    const faults = async (expiresAt: unknown) =>
      (await platform.post(`/v1/users/${id}/credentials`, { password: 'x', expiresAt }))
        .json<Problem>()
        .errors?.map(({ field, code }) => `${field} ${code}`)
        .filter((fault) => fault !== 'password length');
    expect(await faults('2020-01-01T00:00:00Z')).toEqual(['expiresAt range']);
    for (const text of ['', 'tomorrow', '2099-12-31', '2099-02-30T00:00:00Z']) {
      expect(await faults(text)).toEqual(['expiresAt format']);
    }
    for (const value of [5, true, {}, []]) expect(await faults(value)).toEqual(['expiresAt type']);
    expect(await faults(null)).toEqual([]);
  });

  it('show when they were last used; a refused login does not count', async () => {
    const { id, auth } = await aUser('used');
    const credentials = async () =>
      (await platform.get(`/v1/users/${id}`)).json<{
        credentials: { createdAt: string; lastUsedAt?: string }[];
      }>().credentials;
    expect((await anyone.get('/v1/environments', { auth: 'used:wrong' })).status).toBe(401);
    expect((await anyone.get('/v1/environments', { auth })).status).toBe(200);
    const [credential] = await eventually(credentials, ([one]) => one?.lastUsedAt !== undefined);
    expect(credential!.lastUsedAt).toMatch(/:00:00\.000Z$/);
    const agoMs = Date.now() - Date.parse(credential!.lastUsedAt!);
    expect(agoMs >= 0 && agoMs < 3_660_000).toBe(true);
    const [never] = (await platform.get(`/v1/users/${(await aUser('unused')).id}`)).json<{
      credentials: object[];
    }>().credentials;
    expect(Object.keys(never!)).toEqual(['id', 'scope', 'createdAt']);
  });

  it('stop working within about a second on every process when the user is locked', async () => {
    const { id, auth } = await aUser('tolock');
    const clients = [clientOf(api.url, auth), clientOf(secondApi.url, auth)];
    const statuses = async () =>
      (await Promise.all(clients.map((client) => client.get(`/v1/users/${id}`)))).map(
        ({ status }) => status,
      );
    expect(await statuses()).toEqual([200, 200]);
    await platform.put('/v1/users/tolock', { status: 'locked' });
    await delay(1_100);
    expect(await statuses()).toEqual([401, 401]);
    await platform.put('/v1/users/tolock', { status: 'active' });
    expect(await statuses()).toEqual([200, 200]);
  });
});

describe('users', () => {
  it('can read themselves, by id and by name', async () => {
    const [byId, byName] = await Promise.all([
      demo.get(`/v1/users/${demoId}`),
      demo.get('/v1/users/demo/'),
    ]);
    expect(byId.status).toBe(200);
    expect(byId.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(byName.text).toBe(byId.text);
    expect(Object.keys(byId.json())).toEqual([
      'href',
      'id',
      'username',
      'role',
      'status',
      'joinDate',
      'credentials',
    ]);
    expect(byId.json()).toMatchObject({
      href: `${api.url}/v1/users/${demoId}`,
      id: Number(demoId),
      username: 'demo',
      role: 'account',
      status: 'active',
    });
    expect(byId.json().joinDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const head = await demo.head(`/v1/users/${demoId}`);
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('get 404 for another user, an unknown one and a malformed id alike', async () => {
    const other = await aUser('other');
    for (const user of [other.id, 'other', 'nobody', '99999', '01', '+1', '9223372036854775808']) {
      const answer = await demo.get(`/v1/users/${user}`);
      expect([user, answer.status]).toEqual([user, 404]);
    }
    expect((await platform.get(`/v1/users/${other.id}`)).status).toBe(200);
  });

  it('can be listed, created and changed only by operators', async () => {
    for (const answer of await Promise.all([
      demo.get('/v1/users'),
      demo.post('/v1/users', 'not even JSON', { headers: { 'content-type': 'text/plain' } }),
      demo.put('/v1/users/demo', { status: 'locked' }),
      demo.post('/v1/environments', {}),
    ])) {
      expect(answer.status).toBe(403);
      expect(answer.json<Problem>().code).toBe('forbidden');
    }
  });

  it('are listed as a bare array in numeric order, whole or in pages', async () => {
    const whole = await platform.get('/v1/users');
    const ids = whole.json<{ id: number }[]>().map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const paged: number[] = [];
    let next: string | undefined = '/v1/users?limit=2';
    while (next !== undefined) {
      const page = await platform.get(next);
      paged.push(...page.json<{ id: number }[]>().map(({ id }) => id));
      next = /^<http:\/\/[^/]+(\/[^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
    }
    expect(paged).toEqual(ids);
    expect((await platform.get('/v1/users?limit=0')).status).toBe(400);
  });

  it('are created with a generated password, which is shown once', async () => {
    const made = await platform.post('/v1/users', { username: 'generated', unknown: 1 });
    const { href, password } = made.json<{ href: string; password: string }>();
    expect(made.status).toBe(200);
    expect(made.headers.location).toBe(href);
    const own = clientOf('', `generated:${password}`);
    expect((await own.get(href)).json()).toMatchObject({ username: 'generated', role: 'account' });
    expect((await clientOf('', platformAuth).get(href)).text).not.toContain(password);
    const given = await platform.post('/v1/users', { username: 'given', password: '12345678' });
    expect(Object.keys(given.json())).toEqual(['href', 'id']);
  });

  it('are refused with every fault of the request', async () => {
    const faults = async (body: unknown) =>
      (await platform.post('/v1/users', body))
        .json<Problem>()
        .errors?.map(({ field, code }) => `${field} ${code}`);
    expect(await faults({})).toEqual(['username required']);
    expect(await faults({ username: null, role: null, password: null })).toEqual([
      'username required',
    ]);
    expect(await faults({ username: '123', role: 'root', password: 'short' })).toEqual([
      'username format',
      'role choice',
      'password length',
    ]);
    expect(await faults({ username: 'demo' })).toEqual(['username conflict']);
    expect(await faults({ username: 1, role: 2, password: {} })).toEqual([
      'username type',
      'role type',
      'password type',
    ]);
    expect(await faults('{"username": "nul", "password": "12345678\\u0000"}')).toEqual([
      'password format',
    ]);
  });

  it('change only in the given fields', async () => {
    const { id } = await aUser('unchanged');
    const before = (await platform.get(`/v1/users/${id}`)).text;
    for (const body of [{}, JSON.parse(before) as object, { username: 'x', role: 'platform' }]) {
      const answer = await platform.put(`/v1/users/${id}`, body);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ href: `${api.url}/v1/users/${id}`, id: Number(id) });
    }
    expect((await platform.get(`/v1/users/${id}`)).text).toBe(before);
    for (const status of [null, 'gone', 1, '']) {
      expect((await platform.put(`/v1/users/${id}`, { status })).status).toBe(400);
    }
  });

  it('are looked up only after the body was found valid', async () => {
    expect((await platform.put('/v1/users/nobody', { status: 'gone' })).status).toBe(400);
    expect((await platform.put('/v1/users/nobody', { status: 'locked' })).status).toBe(404);
    expect((await platform.post('/v1/users/nobody/credentials', {})).status).toBe(404);
    expect((await platform.put('/v1/users/nobody')).status).toBe(400);
  });

  it('have credentials that can be fetched at their own addresses', async () => {
    const { id, auth } = await aUser('fetcher');
    const added = await platform.post(`/v1/users/${id}/credentials`, {});
    const { href, password } = added.json<{ href: string; password: string }>();
    expect(added.headers.location).toBe(href);
    const shown = await clientOf('', auth).get(href);
    expect(shown.json()).toMatchObject({ href, id: href.split('/').at(-1) });
    expect(Object.keys(shown.json())).toEqual(['href', 'id', 'scope', 'createdAt']);
    expect((await clientOf('', `fetcher:${password}`).get(href)).status).toBe(200);
    expect((await clientOf('', 'demo:demo-secret').get(href)).status).toBe(404);
    for (const credential of ['0', 'x', '99999999']) {
      const path = `/v1/users/${id}/credentials/${credential}`;
      expect((await platform.delete(path)).status).toBe(404);
    }
  });
});

describe('environments', () => {
  it('are visible to every user', async () => {
    const list = await demo.get('/v1/environments');
    expect(list.json()).toMatchObject([
      { id: '1', name: 'Development', type: 'development', billable: false },
      { id: '2', name: 'Production', type: 'production', billable: true },
    ]);
    const shown = await demo.get('/v1/environments/2');
    expect(shown.json()).toEqual({
      id: '2',
      href: `${api.url}/v1/environments/2`,
      name: 'Production',
      type: 'production',
      billable: true,
    });
    expect((await demo.get('/v1/environments/3000')).status).toBe(404);
  });

  it('are added by the platform, optionally with a chosen id', async () => {
    const special = { name: '  Beta  ', type: 'special', billable: false };
    const chosen = await platform.post('/v1/environments', { ...special, id: 815 });
    expect(chosen.json()).toEqual({ href: `${api.url}/v1/environments/815`, id: '815' });
    expect(chosen.headers.location).toBe(`${api.url}/v1/environments/815`);
    expect((await demo.get('/v1/environments/815')).json()).toMatchObject({ name: 'Beta' });
    const generated = await platform.post('/v1/environments', special);
    expect((await demo.get(generated.headers.location!.slice(api.url.length))).status).toBe(200);
    const codes = async (body: object) =>
      (await platform.post('/v1/environments', body))
        .json<Problem>()
        .errors?.map(({ field, code }) => `${field} ${code}`);
    expect(await codes({ ...special, id: '815' })).toEqual(['id conflict']);
    expect(await codes({ ...special, id: '007' })).toEqual(['id format']);
    expect(await codes({ ...special, id: -1 })).toEqual(['id format']);
    expect(await codes({ ...special, id: true })).toEqual(['id type']);
    expect(await codes({ type: 'other', billable: 'no' })).toEqual([
      'name required',
      'type choice',
      'billable type',
    ]);
  });
});

it('logs no password and no header', () => {
  const written = api.output() + secondApi.output();
  expect(written).toContain('"path":"/v1/users"');
  for (const secret of ['demo-secret', 'wrong-secret', 'the new one', platformAuth]) {
    expect(written).not.toContain(secret);
    expect(written).not.toContain(Buffer.from(secret).toString('base64'));
  }
});
