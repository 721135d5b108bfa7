import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerOf } from '#libs/client';
import { requireProgram } from '#tools/apt';
import { eventually } from '#tools/eventually';
import { answersOk, freePort } from '#tools/net';
import { type Program, Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';
import { anApplication } from '../support/rows.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';
import { typedClientOf } from '../support/typed-client.js';

await requireProgram('haproxy');

const read = (name: string) => readFileSync(join(ROOT, 'tools/proxies', name), 'utf8');

/** An installation of its own, with a producer of the same name and password as in the other one. */
interface Group {
  database: TestDatabase;
  store: TcpProxy;
  api: Running;
  customer: { username: string; id: string; auth: string };
}

const dir = mkdtempSync(join(tmpdir(), 'switchhook-router-'));
const programs = new Programs(join(dir, 'logs'));
let first: Group;
let second: Group;
let router: string;
let haproxy: Program;
let producer: Client;
let producerAuth: string;

beforeAll(async () => {
  // The customers of tools/proxies/accounts.map.
  first = await startGroup('demo', {});
  second = await startGroup('other', { INSTALLATION_GROUP: '1' });
  router = await startRouter();
  producer = clientOf(router, producerAuth);
}, 60_000);
afterAll(async () => {
  await programs.kill();
  for (const { api, store, database } of [first, second]) {
    await api.stop();
    await store.close();
    await database.drop();
  }
  rmSync(dir, { recursive: true });
});

async function startGroup(username: string, settings: Record<string, string>): Promise<Group> {
  const database = await createTestDatabase(settings);
  const customer = { username, ...(await createUser(database, username)) };
  ({ auth: producerAuth } = await createUser(database, 'switch', 'platform'));
  const store = await proxyTo(database.url);
  const api = await apiInProcess({
    DATABASE_URL: store.address,
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_BASE_URL: 'https://api.example.com',
  });
  return { database, store, api, customer };
}

/** HAProxy with the example's configuration, for these groups. @returns its address */
async function startRouter(): Promise<string> {
  const port = await freePort();
  const hosts = [first, second].map(({ api }) => new URL(api.url).host);
  const config = read('groups.cfg')
    .replace(/bind .*/, `bind 127.0.0.1:${port}`)
    .replaceAll('/etc/haproxy', dir)
    .replaceAll(/api-\d\.group-(\d)\.internal:3000/g, (_, group: string) => hosts[Number(group)]!);
  writeFileSync(join(dir, 'groups.cfg'), config);
  writeFileSync(join(dir, 'accounts.map'), read('accounts.map'));
  haproxy = programs.start('haproxy', 'haproxy', ['-db', '-f', join(dir, 'groups.cfg')]);
  const url = `http://127.0.0.1:${port}`;
  await haproxy.ready(() => answersOk(`${url}/health/live`), 20_000);
  return url;
}

const groups = () => [first, second];

const naming = (account: string) => ({ headers: { 'switchhook-account': account } });
const anEvent = (accountId: string) =>
  ({ event: 'cdrCreated', resource: 'call', accountId, data: {} }) as const;

/** The accounts of the events that each group has stored. */
async function reported(): Promise<string[][]> {
  return Promise.all(
    groups().map(async ({ database }) => {
      const rows = await database.query<{ account_id: string }>('SELECT account_id FROM events');
      await database.query('DELETE FROM events');
      return rows.map((row) => row.account_id);
    }),
  );
}

describe('an event', () => {
  it('reaches the group of the account in its header', async () => {
    for (const { customer } of groups()) {
      const { id } = customer;
      const one = await producer.post('/v1/events', anEvent(id), naming(id));
      expect(one.status).toBe(202);
      const batch = await producer.post('/v1/events/batch', { events: [anEvent(id)] }, naming(id));
      expect(batch.json()).toMatchObject({ results: [{ duplicate: false }] });
    }
    expect(await reported()).toEqual(groups().map(({ customer: { id } }) => [id, id]));
  });

  it('reaches it from the typed client and from the command line', async () => {
    const client = typedClientOf(router, producerAuth);
    for (const { customer } of groups()) {
      const { id } = customer;
      const params = { header: { 'Switchhook-Account': id } };
      await answerOf(client.POST('/v1/events', { params, body: anEvent(id) }));
      const sent = await runCli([
        'events',
        'send',
        '--url',
        router,
        '--user',
        'switch',
        '--account',
        id,
      ]);
      expect(sent).toMatchObject({ code: 0, stderr: '' });
    }
    expect(await reported()).toEqual(groups().map(({ customer: { id } }) => [id, id, id, id]));
  });

  it('of another account than the header names is refused', async () => {
    const account = second.customer.id;
    for (const event of [
      anEvent(first.customer.id),
      // Of an application in the other group.
      {
        ...anEvent(account),
        applicationId: await anApplication(first.database, first.customer.id),
      },
    ]) {
      const { status } = await producer.post('/v1/events', event, naming(account));
      expect(status).toBe(400);
    }
    expect(await reported()).toEqual([[], []]);
  });

  it('of an account in a group that does not exist is refused', async () => {
    const account = String(700 * 2 ** 43 + 1);
    const answer = await producer.post('/v1/events', anEvent(account), naming(account));
    const faults = ['Switchhook-Account unknown_reference'];
    expectProblem(answer, { status: 400, code: 'validation_failed', faults });
  });

  it('of another group is refused without the header, which the error names', async () => {
    const { customer, database } = second;
    const applicationId = await anApplication(database, customer.id);
    const hint = '(one in another group needs the header Switchhook-Account).';
    for (const [event, error] of [
      [anEvent(customer.id), `accountId names no account ${hint}`],
      [{ ...anEvent(customer.id), applicationId }, `applicationId names no application ${hint}`],
    ] as const) {
      const refused = await producer.post('/v1/events', event);
      expect(refused.json()).toMatchObject({ status: 400, error });
    }
  });
});

it('sends a customer to the group of the username', async () => {
  for (const { customer } of groups()) {
    const shown = await clientOf(router, customer.auth).get(`/v1/users/${customer.username}`);
    expect(shown.json()).toMatchObject({ id: Number(customer.id) });
  }
});

it('lets no customer choose a group, whatever the request names', async () => {
  const { customer } = first;
  // The map need not name a customer of the first group.
  const unnamed = await createUser(first.database, 'unnamed');
  const headers = { ...naming(second.customer.id).headers, cookie: 'switchhook-group=1' };
  for (const [username, auth] of [
    [customer.username, customer.auth],
    ['unnamed', unnamed.auth],
  ] as const) {
    const shown = await clientOf(router, auth).get(`/v1/users/${username}`, { headers });
    expect(shown.json()).toMatchObject({ username });
  }
});

it('sends any request of an operator to the group of the account in its header', async () => {
  for (const { customer, database } of groups()) {
    const id = await anApplication(database, customer.id);
    const path = `/v1/applications/${id}?accountId=${customer.id}`;
    expect((await producer.get(path, naming(customer.id))).json()).toMatchObject({ id });
    const listing = ['applications', 'list', '--url', router, '--user', 'switch'];
    const { stdout } = await runCli([...listing, '--account', customer.id, '--json']);
    expect(stdout).toContain(`"id":"${id}"`);
  }
});

it('answers requests without credentials, and refuses unknown users', async () => {
  expect((await clientOf(router).get('/openapi.json')).status).toBe(200);
  expect((await clientOf(router).get('/v1/webhooks')).status).toBe(401);
  expect((await clientOf(router, 'nobody:wrong-secret').get('/v1/webhooks')).status).toBe(401);
});

describe('the session of a browser', () => {
  const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
  const browser = () => clientOf(router);

  const cookiesOf = ({ headers }: Answer) =>
    (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0]).join('; ');
  const logIn = (auth: string, cookie = '') => {
    const [username, password] = auth.split(':');
    const headers = { ...SAME_ORIGIN, cookie };
    return browser().post('/v1/session', { username, password }, { headers });
  };
  /** Who is logged in with these cookies. */
  const userOf = async (cookie: string) =>
    (await browser().get('/v1/session', { headers: { ...SAME_ORIGIN, cookie } })).json()[
      'username'
    ];

  it('stays in the group of its user', async () => {
    for (const { customer } of groups()) {
      const cookies = cookiesOf(await logIn(customer.auth));
      expect(await userOf(cookies)).toBe(customer.username);
    }
  });

  it('moves to the group of the next user who logs in', async () => {
    let cookies = '';
    for (const { customer } of [second, first, second]) {
      cookies = cookiesOf(await logIn(customer.auth, cookies));
      expect(await userOf(cookies)).toBe(customer.username);
    }
  });

  it('begins in the first group if the map does not have its user', async () => {
    const cookies = cookiesOf(await logIn(second.customer.auth));
    const moved = cookiesOf(await logIn(producerAuth, cookies));
    expect(await userOf(moved)).toBe('switch');
    expect(moved).toContain('switchhook-group=0');
  });

  it('goes on when a login fails', async () => {
    const cookies = cookiesOf(await logIn(second.customer.auth));
    const failed = await logIn(`${first.customer.username}:wrong-secret`, cookies);
    expect([failed.status, cookiesOf(failed)]).toEqual([401, '']);
    expect(await userOf(cookies)).toBe('other');
  });
});

it('lets the APIs of a group say themselves that PostgreSQL is away', async () => {
  second.store.down();
  const isDown = (server: string) => haproxy.output().includes(`Server group-1/${server} is DOWN`);
  await eventually(() => isDown('api-1') && isDown('api-2'), Boolean);
  const { id } = second.customer;
  const refused = await producer.post('/v1/events', anEvent(id), naming(id));
  const error = 'The service cannot reach its database now.';
  expect(refused.json()).toMatchObject({ status: 503, code: 'unavailable', error });
  expect(refused.headers['retry-after']).toBe('5');
  second.store.up();
});
