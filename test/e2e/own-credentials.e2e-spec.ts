import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';

interface Credential {
  href: string;
  id: string;
  name?: string;
  scope: string;
  expiresAt?: string;
  lastUsedAt?: string;
}

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

let database: TestDatabase;
let api: Running;
let platform: Client;
let operator: Client;
let users = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  operator = clientOf(api.url, (await createUser(database, 'operator', 'operator')).auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

async function aCustomer() {
  const username = `customer-${(users += 1)}`;
  const { id, auth } = await createUser(database, username);
  const path = `/v1/users/${username}/credentials`;
  return { id, username, path, client: clientOf(api.url, auth) };
}

type Customer = Awaited<ReturnType<typeof aCustomer>>;

const listOf = async ({ client, path }: Customer) => (await client.get(path)).json<Credential[]>();

/** Adds a credential. @returns its id, and a client that uses it */
async function add({ client, path, username }: Customer, fields: object = {}) {
  const answer = await client.post(path, fields);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const { id, password } = answer.json<{ id: string; password: string }>();
  return { id, password, client: clientOf(api.url, `${username}:${password}`) };
}

const statusOf = ({ status }: Answer) => status;

describe('a customer', () => {
  it('adds a credential with a name, a scope and an end, and sees its password once', async () => {
    const customer = await aCustomer();
    const fields = { name: 'Dashboard', scope: 'read', expiresAt: '2099-12-31T23:59:59.000Z' };
    const { id, password, client } = await add(customer, fields);
    expect(statusOf(await client.get('/v1/webhooks'))).toBe(200);
    const list = await customer.client.get(customer.path);
    expect(list.text).not.toContain(password);
    const [first, added] = list.json<Credential[]>();
    expect(first).toMatchObject({ scope: 'manage' });
    expect(first).not.toHaveProperty('name');
    expect(added).toMatchObject({
      id,
      ...fields,
      href: `${api.url}/v1/users/${customer.id}/credentials/${id}`,
    });
    // Its use is noted a little later.
    expect((await customer.client.get(`${customer.path}/${id}`)).json()).toMatchObject(added!);
  });

  it('is told the scope and the end of a new credential, so that a misspelt one is seen', async () => {
    const { client, path } = await aCustomer();
    const expiresAt = '2099-12-31T23:59:59.000Z';
    const added = await client.post(path, { scope: 'read', expiresAt });
    expect(added.json()).toMatchObject({ scope: 'read', expiresAt });
    const misspelt = await client.post(path, { scop: 'read', expiresat: expiresAt });
    expect([misspelt.status, misspelt.json()]).toEqual([
      200,
      {
        href: expect.any(String) as string,
        id: expect.any(String) as string,
        password: expect.any(String) as string,
        scope: 'manage',
      },
    ]);
  });

  it('replaces a leaked password without an interruption', async () => {
    const customer = await aCustomer();
    const [leaked] = await listOf(customer);
    const { client } = await add(customer);
    expect(statusOf(await client.delete(`${customer.path}/${leaked!.id}`))).toBe(200);
    expect(statusOf(await client.get('/v1/webhooks'))).toBe(200);
    await delay(1_100);
    expect(statusOf(await customer.client.get('/v1/webhooks'))).toBe(401);
    expect(statusOf(await client.get('/v1/webhooks'))).toBe(200);
  });

  it('has at most ten credentials, however concurrent the requests, and keeps more from before', async () => {
    const customer = await aCustomer();
    const added = await Promise.all(
      Array.from({ length: 12 }, () => customer.client.post(customer.path, {})),
    );
    expect(added.map(statusOf).sort()).toEqual([...Array<number>(9).fill(200), 409, 409, 409]);
    expectProblem(
      added.find(({ status }) => status === 409)!,
      {
        status: 409,
        code: 'credential_limit_reached',
      },
    );
    await database.query(
      `INSERT INTO credentials (user_id, hash) SELECT $1, decode(repeat('00', 32), 'hex') FROM generate_series(1, 5)`,
      [customer.id],
    );
    const list = await listOf(customer);
    expect(list).toHaveLength(15);
    expect(statusOf(await customer.client.delete(`${customer.path}/${list[14]!.id}`))).toBe(200);
    expectProblem(await customer.client.post(customer.path, {}), {
      status: 409,
      code: 'credential_limit_reached',
    });
  });

  it('cannot revoke its last credential that can change things, but an operator can', async () => {
    const customer = await aCustomer();
    const [first] = await listOf(customer);
    await add(customer, { scope: 'read' });
    const path = `${customer.path}/${first!.id}`;
    const refused = await customer.client.delete(path);
    expectProblem(refused, { status: 409, code: 'own_access' });
    expect(await listOf(customer)).toHaveLength(2);
    expect(statusOf(await operator.delete(path))).toBe(200);
  });

  it('cannot revoke its last credential by concurrent requests', async () => {
    const customer = await aCustomer();
    await add(customer);
    const both = await Promise.all(
      (await listOf(customer)).map(({ id }) => customer.client.delete(`${customer.path}/${id}`)),
    );
    expect(both.map(statusOf).sort()).toEqual([200, 409]);
  });

  it('sees and changes nothing of the credentials of others', async () => {
    const [customer, other] = [await aCustomer(), await aCustomer()];
    const [theirs] = await listOf(other);
    for (const path of [
      other.path,
      `/v1/users/${other.id}/credentials`,
      '/v1/users/switch/credentials',
    ]) {
      const answers = await Promise.all([
        customer.client.get(path),
        customer.client.post(path, {}),
        customer.client.get(`${path}/${theirs!.id}`),
        customer.client.delete(`${path}/${theirs!.id}`),
      ]);
      expect([path, ...answers.map(statusOf)]).toEqual([path, 404, 404, 404, 404]);
    }
    expect(await listOf(other)).toHaveLength(1);
  });

  it('is told what is wrong with a credential', async () => {
    const { client, path } = await aCustomer();
    const faults = async (body: object) =>
      (await client.post(path, body))
        .json<{ errors?: { field: string; code: string }[] }>()
        .errors?.map(({ field, code }) => `${field} ${code}`);
    expect(await faults({ name: '', scope: 'write', expiresAt: '2020-01-01T00:00:00Z' })).toEqual([
      'name length',
      'scope choice',
      'expiresAt range',
    ]);
    expect(await faults({ name: 'x'.repeat(101) })).toEqual(['name length']);
    expect(await faults({ name: 'a\u0000b' })).toEqual(['name format']);
    expect(await faults({ name: 5, scope: true })).toEqual(['name type', 'scope type']);
  });

  it('may add twenty credentials in a minute, because each keeps logins waiting', async () => {
    const customer = await aCustomer();
    const answers: number[] = [];
    for (let time = 0; time < 21; time += 1) {
      answers.push(statusOf(await customer.client.post(customer.path, { password: 'x' })));
    }
    expect(answers).toEqual([...Array<number>(20).fill(400), 429]);
  });

  it('manages its credentials on the command line', async () => {
    const { username } = await aCustomer();
    const cli = (args: string[], password = `${username}-secret`) =>
      runCli(
        ['own-credentials', ...args, '--url', api.url, '--user', username, '--password-stdin'],
        {
          input: password,
        },
      );
    const created = await cli(['create', '--name', 'Shop', '--expires-at', '2099-01-01T00:00:00Z']);
    const [, id = '', password = ''] =
      /^created credential (\d+)\npassword, shown only once: (\S+)\n$/.exec(created.stdout) ?? [];
    const list = await cli(['list'], password);
    expect(list.stdout).toMatch(
      new RegExp(`^${id}\\t\\S+\\t2099-01-01T00:00:00.000Z\\t\\S*\\tmanage\\tShop$`, 'm'),
    );
    const [first = ''] = /^\d+/.exec(list.stdout) ?? [];
    expect((await cli(['revoke', first], password)).stdout).toBe(`revoked credential ${first}\n`);
    const refused = await cli(['revoke', id], password);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('your own last')]);
  });
});

describe('a credential of the scope read', () => {
  it('reads, but changes nothing and sees no secret', async () => {
    const customer = await aCustomer();
    const body = { event: 'smsdlr', resource: 'all', targetUrl: 'https://hooks.example.com/' };
    const { href } = (await customer.client.post('/v1/webhooks', body)).json<Credential>();
    const { pathname } = new URL(href);
    const { client } = await add(customer, { scope: 'read' });
    expect(statusOf(await client.get(pathname))).toBe(200);
    expect(statusOf(await client.head(pathname))).toBe(200);
    for (const answer of [
      await client.get(`${pathname}/secret`),
      await client.head(`${pathname}/secret`),
      await client.put(pathname, { enabled: false }),
      await client.delete(pathname),
      await client.post(customer.path, {}),
    ]) {
      expect(answer.status).toBe(403);
    }
    const { error } = (await client.get(`${pathname}/secret`)).json<{ error: string }>();
    expect(error).toBe('This credential has the scope read; this requires manage.');
    expect((await customer.client.get(pathname)).json()).toMatchObject({ enabled: true });
  });

  it('begins and ends a session of the same scope', async () => {
    const customer = await aCustomer();
    const { password } = await add(customer, { scope: 'read' });
    const browser = clientOf(api.url);
    const pair = { username: customer.username, password };
    const begun = await browser.post('/v1/session', pair, { headers: SAME_ORIGIN });
    expect(begun.json()).toMatchObject({ username: customer.username, scope: 'read' });
    const cookie = begun.headers['set-cookie']![0]!.split(';', 1)[0]!;
    const headers = { ...SAME_ORIGIN, cookie };
    expect(statusOf(await browser.get('/v1/webhooks', { headers }))).toBe(200);
    expect(statusOf(await browser.post('/v1/webhooks', {}, { headers }))).toBe(403);
    expect(statusOf(await browser.delete('/v1/session', { headers }))).toBe(200);
    expect(statusOf(await browser.get('/v1/webhooks', { headers }))).toBe(401);
  });
});

describe('an operator', () => {
  it('creates users and credentials, but none of the role platform', async () => {
    for (const role of ['account', 'reporter', 'operator']) {
      const username = `made-${role}`;
      expect(statusOf(await operator.post('/v1/users', { username, role }))).toBe(200);
      expect(statusOf(await operator.post(`/v1/users/${username}/credentials`, {}))).toBe(200);
    }
    const made = { username: 'made-platform', role: 'platform' };
    expectProblem(await operator.post('/v1/users', made), { status: 403, code: 'forbidden' });
    expect(statusOf(await platform.post('/v1/users', made))).toBe(200);
  });

  it('cannot become a platform user by a detour', async () => {
    const { json } = await operator.get('/v1/users/switch/credentials');
    const [theirs] = json<Credential[]>();
    for (const answer of [
      await operator.post('/v1/users/switch/credentials', {}),
      await operator.delete(`/v1/users/switch/credentials/${theirs!.id}`),
      await operator.put('/v1/users/switch', { status: 'locked' }),
      await operator.put('/v1/users/switch', {}),
      await operator.post('/v1/users/switch/links', {}),
    ]) {
      expectProblem(answer, { status: 403, code: 'forbidden' });
    }
    expect((await platform.get('/v1/users/switch')).json()).toMatchObject({ status: 'active' });
    expect((await platform.get('/v1/users/switch/credentials')).json()).toHaveLength(1);
  });

  it('sees every account, as the platform does', async () => {
    const { id } = await aCustomer();
    expect(statusOf(await operator.get(`/v1/applications?accountId=${id}`))).toBe(200);
    const { json } = await platform.get(`/v1/audit?accountId=${id}`);
    expect(json<object[]>()).toMatchObject([
      { action: 'user.list_applications', actor: 'operator' },
    ]);
    expect(statusOf(await operator.get('/v1/overview'))).toBe(200);
  });
});

it('a reporter reports events, and has no rate limit', async () => {
  const { id } = await aCustomer();
  const { auth } = await createUser(database, 'producer', 'reporter');
  const body = { event: 'cdrCreated', resource: 'call', accountId: id, data: {} };
  const reported = await clientOf(api.url, auth).post('/v1/events', body);
  expect(reported.status).toBe(202);
  expect(reported.headers).not.toHaveProperty('ratelimit');
  const { pathname } = new URL(reported.json<Credential>().href);
  expect(statusOf(await clientOf(api.url, auth).get(pathname))).toBe(403);
  const pair = { username: 'producer', password: 'producer-secret' };
  const session = await clientOf(api.url).post('/v1/session', pair, { headers: SAME_ORIGIN });
  expectProblem(session, { status: 403, code: 'forbidden' });
  expect(session.headers['set-cookie']).toBeUndefined();
});
