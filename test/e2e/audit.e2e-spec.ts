import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { testDatabaseUrl } from '../support/environment.js';
import { basic, type Client, clientOf } from '../support/http.js';
import { pastDeliveries } from '../support/past.js';
import { workerInProcess } from '../support/in-process.js';
import { connectTo } from '../support/raw-connection.js';
import { startReceiver } from '../support/receiver.js';
import { aPendingDelivery } from '../support/rows.js';

type AuditEntry = Schemas['AuditEntry'];

const REQUEST = { 'x-request-id': 'order-4711', 'x-forwarded-for': '192.0.2.7:4444' };
const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };

let demo: DemoAccount;
let platform: Client;
let operator: string;
/** The newest entry before the test. */
let last: string | undefined;
/** Every action that these tests have seen. */
const actions = new Set<string>();

beforeAll(async () => {
  demo = await startDemoAccount({ ...LOOPBACK, TRUSTED_PROXIES: '127.0.0.1/32' });
  const user = await createUser(demo.database, 'operator', 'platform');
  operator = user.id;
  platform = clientOf(demo.api.url, user.auth);
});
afterAll(() => demo.stop());
beforeEach(async () => {
  last = (await entriesOf(platform, '?limit=1'))[0]?.id;
});

async function entriesOf(client: Client, query = ''): Promise<AuditEntry[]> {
  const answer = await client.get(`/v1/audit${query}`);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json<AuditEntry[]>();
}

/** The entries of this test, oldest first. */
async function recorded(): Promise<AuditEntry[]> {
  const all = await entriesOf(platform);
  const entries = all.slice(
    0,
    last === undefined ? undefined : all.findIndex((e) => e.id === last),
  );
  for (const { action } of entries) actions.add(action);
  return entries.reverse();
}

/** Their actions, each with the names of the changed fields. */
const recordedActions = async () =>
  (await recorded()).map(({ action, fields }) => (fields ? `${action}: ${fields.join()}` : action));

const idIn = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** How many statements wait for a lock. */
async function waiting(): Promise<number> {
  const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND datname = current_database()`;
  return (await demo.database.query(waits)).length;
}

async function aPastDelivery(state: string): Promise<string> {
  const webhook = idIn(await demo.aSubscription());
  const columns = { state: `'${state}'` };
  const [id] = await pastDeliveries(demo.database, webhook, { daysAgo: 0, columns });
  return id!;
}

describe('an entry', () => {
  it('tells who did what, when, from where, and in which request', async () => {
    const before = Date.now();
    const path = await demo.anApplication();
    await demo.client.put(path, { name: 'Exchange', environment: 2 }, { headers: REQUEST });
    const [made, changed] = await recorded();
    expect(changed).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      createdAt: expect.any(String) as string,
      accountId: Number(demo.id),
      userId: Number(demo.id),
      actor: 'demo',
      address: '192.0.2.7',
      requestId: 'order-4711',
      action: 'application.update',
      resource: 'application',
      resourceId: idIn(path),
      fields: ['name', 'environment'],
    });
    expect(made).toMatchObject({ action: 'application.create', address: '127.0.0.1' });
    expect(made).not.toHaveProperty('fields');
    const at = Date.parse(changed!.createdAt);
    expect(at).toBeGreaterThanOrEqual(before - 1_000);
    expect(at).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('names a client that disconnected before its change was done', async () => {
    const path = await demo.anApplication();
    const lock = new pg.Client({ connectionString: demo.database.url });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [idIn(path)]);
    const leaving = await connectTo(demo.api.url);
    const body = JSON.stringify({ name: 'Left' });
    leaving.write(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${basic(demo.auth)}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
    );
    await eventually(waiting, (count) => count > 0);
    leaving.destroy();
    // Once another request is answered, the process has noticed that the client disconnected.
    await demo.anApplication();
    await lock.query('COMMIT');
    await lock.end();
    const isRecorded = (entries: AuditEntry[]) =>
      entries.some(({ action }) => action === 'application.update');
    const entries = await eventually(recorded, isRecorded);
    expect(entries.at(-1)).toMatchObject({ action: 'application.update', actor: 'demo' });
  });

  it('has the address of a client that disconnected before its login was checked', async () => {
    const path = await demo.anApplication();
    // The credential is checked again once a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const lock = new pg.Client({ connectionString: demo.database.url });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE credentials');
    const leaving = await connectTo(demo.api.url);
    const head = `Host: localhost\r\nAuthorization: ${basic(demo.auth)}\r\n`;
    leaving.write(`DELETE ${path} HTTP/1.1\r\n${head}\r\n`);
    await eventually(waiting, (count) => count > 0);
    leaving.destroy();
    expect((await demo.client.get('/health/live')).status).toBe(200);
    await lock.query('COMMIT');
    await lock.end();
    const isRecorded = (entries: AuditEntry[]) =>
      entries.some(({ action }) => action === 'application.delete');
    const entries = await eventually(recorded, isRecorded);
    expect(entries.at(-1)).toMatchObject({ actor: 'demo', address: '127.0.0.1' });
  });

  it('is written for every change of an application and its subscriptions', async () => {
    const application = await demo.anApplication();
    const body = { event: 'cdrRated', resource: 'sms', targetUrl: 'https://u:p@target.example/' };
    const { href } = (await demo.client.post(`${application}/webhooks`, body)).json<{
      href: string;
    }>();
    const webhook = new URL(href).pathname;
    const change = { name: 'One', enabled: false, targetUrl: 'https://u:q@target.example/' };
    await demo.client.put(webhook, change);
    await demo.client.post(`${webhook}/pause`);
    await demo.client.post(`${webhook}/resume`);
    await demo.client.post(`${webhook}/secret/rotate`);
    await demo.client.put(application, { voiceUrl: null, messagingUrl: 'http://m.example/' });
    await demo.client.delete(application);
    expect(await recordedActions()).toEqual([
      'application.create',
      'webhook.create',
      'webhook.update: name,targetUrl,enabled',
      'webhook.pause',
      'webhook.resume',
      'webhook.rotate_secret',
      'application.update: voiceUrl,messagingUrl',
      'application.delete',
      'webhook.delete',
    ]);
    for (const { accountId, userId } of await recorded()) {
      expect([accountId, userId]).toEqual([Number(demo.id), Number(demo.id)]);
    }
  });

  it('is written for every change of users, credentials and environments', async () => {
    const made = await platform.post('/v1/users', {
      username: 'partner',
      password: 'partner-secret',
    });
    const user = new URL(made.json<{ href: string }>().href).pathname;
    await platform.put(user, { status: 'locked' });
    await platform.put(user, { status: 'active' });
    const added = await platform.post(`${user}/credentials`, {});
    await platform.delete(new URL(added.json<{ href: string }>().href).pathname);
    const environment = { name: 'Partner tests', type: 'special', billable: false };
    await platform.post('/v1/environments', environment);
    expect(await recordedActions()).toEqual([
      'user.create',
      'credential.create',
      'user.lock',
      'user.unlock',
      'credential.create',
      'credential.delete',
      'environment.create',
    ]);
    const entries = await recorded();
    const ofUser = entries.filter(({ resource }) => resource !== 'environment');
    expect(new Set(ofUser.map(({ accountId }) => accountId))).toEqual(
      new Set([Number(idIn(user))]),
    );
    expect(entries.at(-1)).not.toHaveProperty('accountId');
    expect(new Set(entries.map(({ userId }) => userId))).toEqual(new Set([Number(operator)]));
  });

  it('is written for every login and logout of a browser, with the id of the credential', async () => {
    const headers = { ...REQUEST, 'sec-fetch-site': 'same-origin' };
    const wrong = { username: 'demo', password: 'wrong-secret' };
    expect((await demo.client.post('/v1/session', wrong, { auth: 'demo:x', headers })).status).toBe(
      401,
    );
    const begun = await demo.client.post('/v1/session', undefined, { headers });
    const cookie = begun.headers['set-cookie']![0]!.split(';', 1)[0]!;
    const browser = clientOf(demo.api.url);
    for (let times = 0; times < 2; times += 1) {
      await browser.get('/v1/session', { headers: { ...headers, cookie } });
      await browser.delete('/v1/session', { headers: { ...headers, cookie } });
    }
    const { credentials } = await demo.shown(`/v1/users/${demo.id}`);
    const [{ id }] = credentials as [{ id: string }];
    const entry = {
      accountId: Number(demo.id),
      userId: Number(demo.id),
      actor: 'demo',
      address: '192.0.2.7',
      requestId: 'order-4711',
      resource: 'session',
      resourceId: id,
    };
    expect(await recorded()).toMatchObject([
      { ...entry, action: 'session.create' },
      { ...entry, action: 'session.delete' },
    ]);
  });

  it('is written for a link and for the session that it begins, by the link', async () => {
    const made = await demo.client.post(`/v1/users/${demo.id}/links`, {});
    const link = made.json<{ url: string }>().url.split('#link=')[1]!;
    const headers = { 'sec-fetch-site': 'same-origin' };
    const opened = await clientOf(demo.api.url).post('/v1/session', { link }, { headers });
    expect(opened.status).toBe(200);
    const [created, begun] = await recorded();
    expect(created).toMatchObject({ action: 'link.create', resource: 'link', actor: 'demo' });
    expect(begun).toMatchObject({ action: 'session.create', resourceId: created!.resourceId });
  });

  it('is written for every action on deliveries', async () => {
    const webhook = await demo.aSubscription();
    await demo.client.post(`${webhook}/test`);
    const since = new Date(Date.now() - 60_000).toISOString();
    const replay = await demo.client.post(`${webhook}/replay`, { since });
    await demo.client.post(`${new URL(replay.headers.location!).pathname}/cancel`);
    await demo.client.post(`/v1/deliveries/${await aPastDelivery('succeeded')}/redeliver`);
    const pending = await aPendingDelivery(demo.database, idIn(await demo.aSubscription()));
    await demo.client.post(`/v1/deliveries/${pending}/send`);
    await demo.client.post(`/v1/deliveries/${pending}/cancel`);
    const { eventId } = await demo.shown(`/v1/deliveries/${pending}`);
    const webhookId = idIn(await demo.aSubscription());
    await demo.client.post(`/v1/events/${String(eventId)}/deliveries`, { webhookId });
    expect((await recordedActions()).filter((what) => what !== 'webhook.create')).toEqual([
      'delivery.test',
      'replay.create',
      'replay.cancel',
      'delivery.redeliver',
      'delivery.send',
      'delivery.cancel',
      'delivery.create',
    ]);
    const users = (await recorded()).map(({ userId }) => userId);
    expect(new Set(users)).toEqual(new Set([Number(demo.id)]));
  });

  it('is written for what an operator reads of an account', async () => {
    const [application, webhook] = [await demo.anApplication(), await demo.aSubscription()];
    await recordedActions();
    for (const path of [application, '/v1/applications', webhook, '/v1/webhooks']) {
      expect((await platform.get(`${path}?accountId=${demo.id}`)).status).toBe(200);
    }
    const made = ['application.create', 'webhook.create'];
    expect((await recordedActions()).filter((what) => !made.includes(what))).toEqual([
      'application.show',
      'user.list_applications',
      'webhook.show',
      'user.list_webhooks',
    ]);
  });

  it('is written for the command line, without a user and an address', async () => {
    const env = { DATABASE_URL: demo.database.url };
    const directory = await mkdtemp(join(tmpdir(), 'switchhook-audit-'));
    const file = join(directory, 'old.json');
    const old = { userId: demo.id, name: 'Old', voiceUrl: 'http://v.example/' };
    const users = [{ id: 900_500, username: 'imported' }];
    await writeFile(file, JSON.stringify({ users, applications: [{ ...old, id: 900_001 }, old] }));
    try {
      expect(await runCli(['import-applications', file], { env })).toMatchObject({ code: 0 });
      expect(await runCli(['users', 'lock', 'partner'], { env })).toMatchObject({ code: 0 });
      const closing = ['users', 'close', 'imported', '--yes'];
      expect(await runCli(closing, { env })).toMatchObject({ code: 0 });
    } finally {
      await rm(directory, { recursive: true });
    }
    const entries = await recorded();
    expect(entries.map(({ action, accountId }) => [action, accountId])).toEqual([
      ['user.import', 900_500],
      ['application.import', Number(demo.id)],
      ['application.import', Number(demo.id)],
      ['user.lock', expect.any(Number)],
      ['user.close', 900_500],
    ]);
    expect(entries[1]).toMatchObject({ actor: 'cli', resourceId: '900001' });
    expect(entries[2]!.resourceId).toMatch(/^9000\d\d$/);
    for (const name of ['userId', 'address', 'requestId']) {
      expect(entries[0]).not.toHaveProperty(name);
    }
  });

  it('is written when the service itself disables a subscription', async () => {
    const receiver = await startReceiver((_, response) => response.writeHead(410).end());
    const worker = await workerInProcess({ DATABASE_URL: demo.database.url, ...LOOPBACK });
    try {
      const webhook = await demo.aSubscription({ targetUrl: receiver.url });
      await demo.client.post(`${webhook}/test`);
      const entries = await eventually(recorded, (found) =>
        found.some(({ action }) => action === 'webhook.disable'),
      );
      expect(entries.at(-1)).toEqual({
        id: expect.any(String) as string,
        createdAt: expect.any(String) as string,
        accountId: Number(demo.id),
        actor: 'system',
        action: 'webhook.disable',
        resource: 'webhook',
        resourceId: idIn(webhook),
        fields: ['enabled'],
      });
    } finally {
      await worker.stop();
      await receiver.close();
    }
  });

  it('names the operator who recovers a subscription, although a worker does it later', async () => {
    const webhook = idIn(await demo.aSubscription());
    await demo.database.query(
      `WITH w AS (
         UPDATE webhooks SET failing_since = now() - interval '10 minutes' WHERE id = ${webhook}
         RETURNING account_id, id
       )
       INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       SELECT account_id, id, now() - interval '10 minutes', 'timeout', 0, 1 FROM w`,
    );
    const time = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const body = { since: time(20), until: time(0) };
    const started = await platform.post('/v1/overview/recover', body, { headers: REQUEST });
    const worker = await workerInProcess({ DATABASE_URL: demo.database.url, ...LOOPBACK });
    try {
      const entries = await eventually(recorded, (found) =>
        found.some(({ action }) => action === 'webhook.recover'),
      );
      const by = { userId: Number(operator), address: '192.0.2.7', requestId: 'order-4711' };
      expect(entries.slice(1)).toMatchObject([
        { ...by, action: 'recovery.create', resourceId: idIn(started.headers.location!) },
        { ...by, action: 'webhook.recover', resourceId: webhook, accountId: Number(demo.id) },
      ]);
    } finally {
      await worker.stop();
    }
  });

  it('names who erases a text, and not the text', async () => {
    const body = { contains: '+14075550123' };
    const started = await platform.post('/v1/erasures', body, { headers: REQUEST });
    const entries = await recorded();
    expect(entries.at(-1)).toMatchObject({
      ...{ userId: Number(operator), action: 'erasure.create' },
      resourceId: idIn(started.headers.location!),
    });
    expect(JSON.stringify(entries)).not.toContain(body.contains);
  });

  it('has an action that the documentation for operators lists', async () => {
    await recorded();
    expect([...actions].sort()).toEqual(documentedActions().sort());
  });
});

function documentedActions(): string[] {
  const page = readFileSync('docs/operating/audit.md', 'utf8');
  const [, table = ''] = /<!-- actions -->(.*?)<!-- \/actions -->/s.exec(page) ?? [];
  return [...table.matchAll(/`(\w+\.\w+)`/g)].map(([, action]) => action!);
}

describe('no entry is written', () => {
  it('for a request that changes nothing', async () => {
    const application = await demo.anApplication();
    const webhook = await demo.aSubscription();
    const delivery = await aPastDelivery('succeeded');
    await demo.client.post(`/v1/deliveries/${delivery}/redeliver`);
    await demo.client.post(`/v1/deliveries/${delivery}/cancel`);
    const count = (await recorded()).length;
    await demo.client.put(application, {});
    await demo.client.put(application, await demo.shown(application));
    await demo.client.put(webhook, {});
    await demo.client.put(webhook, { enabled: true, targetUrl: 'https://target.example/hook' });
    await demo.client.post(`${webhook}/resume`);
    await demo.client.post(`/v1/deliveries/${delivery}/cancel`);
    await platform.put('/v1/users/demo', {});
    await platform.put('/v1/users/demo', { status: 'active' });
    expect(await recorded()).toHaveLength(count);
  });

  it('for a refused request', async () => {
    const application = await demo.anApplication();
    const count = (await recorded()).length;
    const stale = { headers: { 'if-match': '"99"' } };
    const answers = [
      await demo.client.post('/v1/applications', { name: 'No URL' }),
      await demo.client.put(application, { name: 'Stale' }, stale),
      await demo.client.delete('/v1/applications/999999999'),
      await demo.client.post('/v1/users', { username: 'nobody' }),
      await platform.post('/v1/users', { username: 'demo' }),
      await demo.client.post(`/v1/deliveries/${await aPastDelivery('succeeded')}/cancel`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 412, 404, 403, 400, 409]);
    // The subscription of that delivery.
    expect((await recorded()).slice(count).map(({ action }) => action)).toEqual(['webhook.create']);
  });

  it('for the repeat of a request with an Idempotency-Key', async () => {
    const body = { name: 'Once', voiceUrl: 'http://v.example/' };
    const call = { headers: { 'idempotency-key': 'audit' } };
    for (let n = 0; n < 2; n += 1) await demo.client.post('/v1/applications', body, call);
    expect(await recordedActions()).toEqual(['application.create']);
  });
});

it('rolls back a change that cannot be recorded', async () => {
  const path = await demo.anApplication();
  await demo.database.query('ALTER TABLE audit ADD CONSTRAINT full_disk CHECK (false) NOT VALID');
  const answers = [
    await demo.client.put(path, { name: 'Unseen' }),
    await demo.client.delete(path),
    await demo.client.post('/v1/applications', { name: 'Unseen', voiceUrl: 'http://v.example/' }),
    await platform.put('/v1/users/demo', { status: 'locked' }),
  ];
  await demo.database.query('ALTER TABLE audit DROP CONSTRAINT full_disk');
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
  expect(await demo.shown(path)).toMatchObject({ name: 'Switchboard' });
  expect(await demo.database.query(`SELECT FROM applications WHERE name = 'Unseen'`)).toEqual([]);
});

it('never records a changed value', async () => {
  const webhook = await demo.aSubscription({ payload: { token: 'payload-secret' } });
  await demo.client.put(webhook, { targetUrl: 'https://user:target-secret@target.example/' });
  await demo.client.post(`${webhook}/secret/rotate`);
  const { secret } = (await demo.client.get(`${webhook}/secret`)).json<{ secret: string }>();
  const password = 'partner-password-secret';
  await platform.post('/v1/users/partner/credentials', { password });
  expect((await recorded()).length).toBe(4);
  const rows = await demo.database.query('SELECT * FROM audit');
  const text = JSON.stringify(rows);
  for (const value of ['-secret', secret, 'target.example']) expect(text).not.toContain(value);
});

describe('the audit table', () => {
  it.each([
    `UPDATE audit SET actor = 'nobody'`,
    'DELETE FROM audit',
    'DELETE FROM audit WHERE false',
    'TRUNCATE audit',
  ])('refuses %s', async (sql) => {
    await demo.anApplication();
    await expect(demo.database.query(`BEGIN; ${sql}; COMMIT`)).rejects.toThrow('only added to');
    await demo.database.query('ROLLBACK');
    expect((await recorded()).length).toBe(1);
  });
});

it('cannot be emptied, even by an administrator who has disabled triggers', async () => {
  await demo.anApplication();
  const administrator = testDatabaseUrl();
  administrator.pathname = new URL(demo.database.url).pathname;
  const client = new pg.Client({ connectionString: administrator.toString() });
  await client.connect();
  try {
    await client.query('SET session_replication_role = replica');
    await expect(client.query('DELETE FROM audit')).rejects.toThrow('only added to');
  } finally {
    await client.end();
  }
});

describe('GET /v1/audit', () => {
  it('shows an account its own entries, without the names and addresses of operators', async () => {
    const user = await createUser(demo.database, 'customer');
    const customer = clientOf(demo.api.url, user.auth);
    await customer.post('/v1/applications', { name: 'Shop', voiceUrl: 'http://v.example/' });
    await platform.post(`/v1/users/customer/credentials`, {});
    const entries = await entriesOf(customer);
    expect(entries.map(({ action, actor, address }) => [action, actor, address])).toEqual([
      ['credential.create', 'platform', undefined],
      ['application.create', 'customer', '127.0.0.1'],
    ]);
    expect(entries[0]).not.toHaveProperty('userId');
    expect(await entriesOf(customer, `?accountId=${demo.id}`)).toEqual([]);
    const [ofOperator] = await entriesOf(platform, `?accountId=${user.id}`);
    expect(ofOperator).toMatchObject({ actor: 'operator', address: '127.0.0.1' });
    expect(ofOperator).toHaveProperty('userId');
    expect((await recorded()).map(({ accountId }) => accountId)).toEqual([
      Number(user.id),
      Number(user.id),
    ]);
  });

  it('returns the newest entries first, one page at a time', async () => {
    for (let n = 0; n < 5; n += 1) await demo.anApplication();
    const all = await entriesOf(demo.client, '?limit=5');
    const ids = all.map(({ id }) => id);
    expect([...ids].sort().reverse()).toEqual(ids);
    const first = await demo.client.get('/v1/audit?limit=2');
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
    expect(next).toBe(`${demo.api.url}/v1/audit?limit=2&after=${ids[1]!}`);
    const { pathname, search } = new URL(next);
    const second = await demo.client.get(pathname + search);
    expect([...first.json<AuditEntry[]>(), ...second.json<AuditEntry[]>()]).toEqual(
      all.slice(0, 4),
    );
    const rest = await demo.client.get('/v1/audit?limit=1000');
    expect(rest.headers).not.toHaveProperty('link');
  });

  it('filters the entries', async () => {
    const path = await demo.anApplication();
    const id = idIn(path);
    const webhook = idIn(await demo.aSubscription());
    await demo.client.put(path, { name: 'Two' });
    const [made, , changed] = await recorded();
    const shown = async (query: string) =>
      (await entriesOf(demo.client, `?${query}`)).map((entry) => entry.id);
    expect(await shown(`resource=application&resourceId=${id}`)).toEqual([changed!.id, made!.id]);
    expect(await shown(`resourceId=${id}&action=application.create`)).toContain(made!.id);
    expect(await shown(`resource=webhook&resourceId=${webhook}`)).toHaveLength(1);
    expect(await shown(`resource=application&since=${changed!.createdAt}`)).toEqual([changed!.id]);
    expect(await shown(`resourceId=${id}&until=${changed!.createdAt}`)).not.toContain(changed!.id);
    for (const nothing of ['action=none', 'resource=%00', 'resourceId=x', 'accountId=x']) {
      expect(await shown(nothing)).toEqual([]);
    }
    for (const faulty of ['limit=1001', 'since=yesterday', 'after=4711', 'action=a&action=b']) {
      expect((await demo.client.get(`/v1/audit?${faulty}`)).status).toBe(400);
    }
  });

  it('refuses actions and resources that do not exist if the handling is strict', async () => {
    const strictly = (query: string) =>
      demo.client.get(`/v1/audit?${query}`, { headers: { prefer: 'handling=strict' } });
    for (const field of ['action', 'resource']) {
      const answer = await strictly(`${field}=nope`);
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ errors: [{ field, code: 'choice' }] });
    }
    for (const action of documentedActions()) {
      const [resource] = action.split('.');
      expect((await strictly(`action=${action}&resource=${resource}`)).status).toBe(200);
    }
  });
});

describe('among more than ten thousand entries', () => {
  beforeAll(async () => {
    // Entries of the command line: the database keeps their actor as given.
    await demo.database.query(
      `INSERT INTO audit (actor, account_id, action, resource_id)
       SELECT 'cli', $1, CASE WHEN n = 1 THEN 'a.rare' ELSE 'a.usual' END, CASE WHEN n = 1 THEN 'rare' ELSE 'usual' END
       FROM generate_series(1, 10500) n`,
      [demo.id],
    );
  });

  it('a filter looks at ten thousand, and the next page continues', async () => {
    const first = await demo.client.get('/v1/audit?action=a.rare');
    expect(first.json()).toEqual([]);
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
    const second = await demo.client.get(next.slice(demo.api.url.length));
    expect(second.json()).toMatchObject([{ action: 'a.rare' }]);
    expect(second.headers.link).toBeUndefined();
  });

  it('the entries of a resource are found at once', async () => {
    const answer = await demo.client.get('/v1/audit?resourceId=rare');
    expect(answer.json()).toMatchObject([{ action: 'a.rare' }]);
    expect(answer.headers.link).toBeUndefined();
  });
});
