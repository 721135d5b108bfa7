import { createSecretKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sealed, SecretBox } from '#libs/kernel';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { minimalSubscription } from '../support/demo-account.js';
import { type Environment, testRedisUrl } from '../support/environment.js';
import { type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { launch, startApi, startWorker } from '../support/processes.js';
import { connectTo } from '../support/raw-connection.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';

const base64 = (fill: string) => Buffer.alloc(32, fill).toString('base64');
const K1 = `k1:${base64('1')}`;
const K2 = `k2:${base64('2')}`;

let database: TestDatabase;
let receiver: Receiver;
let account: { id: string; auth: string };
let platform: { auth: string };
let running: Running[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  account = await createUser(database, 'demo');
  platform = await createUser(database, 'switch', 'platform');
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  await database.query('TRUNCATE webhooks, events, deliveries, attempts');
});

const environment = (): Environment => ({
  DATABASE_URL: database.url,
  DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  DELIVERY_RETRY_SCHEDULE: '50ms',
  LOG_LEVEL: 'debug',
});

async function started<Started extends Running>(
  start: (environment: Environment) => Promise<Started>,
  keys: string | undefined,
  more: Environment = {},
): Promise<Started> {
  const one = await start({ ...environment(), SECRETS_KEYS: keys, ...more });
  running.push(one);
  return one;
}

async function create(client: Client, fields: object = {}): Promise<string> {
  const answer = await client.post('/v1/webhooks', { ...minimalSubscription, ...fields });
  expect(answer.status).toBe(200);
  return new URL(answer.json<{ href: string }>().href).pathname;
}

const cli = (args: string, keys?: string, more: Record<string, string> = {}) =>
  runCli(args.split(' '), {
    env: { DATABASE_URL: database.url, ...(keys !== undefined && { SECRETS_KEYS: keys }), ...more },
  });

describe('without SECRETS_KEYS', () => {
  it.each(['api', 'worker'] as const)(
    'apps/%s does not start in production, and says why before it waits for its database',
    async (app) => {
      const more = {
        DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/away`,
        SECRETS_KEYS: undefined,
        NODE_ENV: 'production',
      };
      const failing = await launch(app, { ...environment(), ...more });
      expect(await failing.exited).toBe('exited with code 1');
      expect(failing.log()).toMatchObject([
        { level: 'fatal', msg: 'configuration: SECRETS_KEYS is not set' },
      ]);
    },
  );

  it('the command line runs commands in production that need no secret, and no others', async () => {
    const production = { NODE_ENV: 'production' };
    expect(await cli('users list', undefined, production)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^id\t.*\n$/) as string,
    });
    const stderr = 'configuration: SECRETS_KEYS is not set\n';
    expect(await cli('secrets reencrypt', undefined, production)).toMatchObject({
      code: 1,
      stderr,
    });
    expect(await cli('secrets reencrypt')).toMatchObject({
      code: 1,
      stderr: 'SECRETS_KEYS is not set.\n',
    });
  });

  it('secrets are stored unencrypted outside production, and the log says so once at the start', async () => {
    const api = await started(startApi, undefined);
    const path = await create(clientOf(api.url, account.auth), {
      targetUrl: 'https://user:pass@target.example/',
      headers: { A: 'sealed:of a customer' },
    });
    const answer = await clientOf(api.url, account.auth).get(`${path}/secret`);
    const rows = await database.query('SELECT secret, userinfo, headers FROM webhooks');
    const { secret } = answer.json();
    const headers = { A: 'plain:sealed:of a customer' };
    expect(rows).toEqual([{ secret, userinfo: 'user:pass', headers }]);
    expect(api.output().match(/SECRETS_KEYS/g)).toHaveLength(1);
  });
});

describe('faulty SECRETS_KEYS', () => {
  it('stop the process at its start with the place of the fault, and without the key', async () => {
    const keys = `${K1},k2:${base64('2').slice(1)}`;
    const failing = await launch('api', { ...environment(), SECRETS_KEYS: keys });
    expect(await failing.exited).toBe('exited with code 1');
    expect(failing.output()).toContain(
      'configuration: SECRETS_KEYS: key 2 must be an id, a colon and 32 bytes in Base64',
    );
    expect(failing.output()).not.toContain(base64('2').slice(1));
  });
});

describe('changed keys', () => {
  it('leave everything readable: without a key, with one, with another, and after reencryption', async () => {
    const secret = `whsec_${base64('s')}`;
    // The stored form without a key.
    const id = await aSubscription(database, account.id, {
      target_url: receiver.url.replace('//', '//***@'),
      userinfo: 'user:pass',
      headers: { 'X-Key': 'value' },
      secret,
    });
    const path = `/v1/webhooks/${id}`;
    const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    const isReadable = async (client: Client) => {
      expect((await client.get(`${path}/secret`)).json()).toEqual({ secret });
      const before = receiver.received.length;
      await client.post(`${path}/test`);
      await receiver.until((received) => received.length > before);
      const { headers } = receiver.received.at(-1)!;
      expect(headers).toMatchObject({ authorization, 'x-key': 'value' });
    };
    for (const [keys, reencrypted] of [
      [K1, 1],
      [`${K2},${K1}`, 1],
      [K2, 0],
    ] as const) {
      const [api, worker] = await Promise.all([
        started(apiInProcess, keys),
        started(workerInProcess, keys),
      ]);
      const client = clientOf(api.url, account.auth);
      await isReadable(client);
      const stdout = `subscriptions re-encrypted with the key "${keys.slice(0, 2)}": ${reencrypted}\n`;
      expect(await cli('secrets reencrypt', keys)).toEqual({ code: 0, stdout, stderr: '' });
      await isReadable(client);
      await Promise.all([api.stop(), worker.stop()]);
    }
  }, 300_000);

  it('leave deliveries pending while a key is missing, and send them once it is back', async () => {
    const full = await started(apiInProcess, K1);
    const path = await create(clientOf(full.url, account.auth), {
      targetUrl: receiver.url.replace('//', '//user:pass@'),
      headers: { 'X-Key': 'value' },
    });
    await full.stop();
    const port = String(await freePort());
    const [api, worker] = await Promise.all([
      started(startApi, K2),
      started(startWorker, K2, { METRICS_PORT: port }),
    ]);
    const client = clientOf(api.url, account.auth);
    expect((await client.get(path)).json()).toMatchObject({ headers: { 'X-Key': '***' } });
    const secret = await client.get(`${path}/secret`);
    expect([secret.status, secret.json()['detail']]).toEqual([
      503,
      'A stored secret cannot be read now.',
    ]);
    expect((await client.put(path, { name: 'x', headers: { 'X-Key': '***' } })).status).toBe(200);
    receiver.received.length = 0;
    const event = { event: 'cdrCreated', resource: 'call', accountId: account.id, data: {} };
    expect((await clientOf(api.url, platform.auth).post('/v1/events', event)).status).toBe(202);
    const missing = 'SECRETS_KEYS has no key \\"k1\\", with which it is sealed';
    await eventually(
      () => worker.output(),
      (output) => output.includes(missing),
    );
    expect(api.output()).toContain(missing);
    const { text } = await send('GET', `http://127.0.0.1:${port}/metrics`);
    expect(text).toMatch(/^switchhook_unreadable_secrets_total [1-9]/m);
    const [delivery] = await database.query('SELECT state, attempts FROM deliveries');
    expect(delivery).toEqual({ state: 'pending', attempts: 0 });
    expect(receiver.received).toEqual([]);
    await worker.stop();
    await started(workerInProcess, `${K2},${K1}`);
    // Ends its lease.
    await database.query(`UPDATE deliveries SET claimed_until = now()`);
    await receiver.until((received) => received.length === 1);
    expect(receiver.received[0]?.headers['x-key']).toBe('value');
  });

  it('that are lost for good can be replaced: the customer sets the values again', async () => {
    const full = await started(apiInProcess, K1);
    const fields = {
      targetUrl: receiver.url.replace('//', '//user:pass@'),
      headers: { 'X-Key': 'value' },
    };
    const path = await create(clientOf(full.url, account.auth), fields);
    await clientOf(full.url, account.auth).post(`${path}/secret/rotate`);
    await full.stop();
    const [api] = await Promise.all([started(apiInProcess, K2), started(workerInProcess, K2)]);
    const client = clientOf(api.url, account.auth);
    expect((await client.put(path, fields)).status).toBe(200);
    const rotated = await client.post(`${path}/secret/rotate`);
    expect((await client.get(`${path}/secret`)).json()).toEqual(rotated.json());
    receiver.received.length = 0;
    await client.post(`${path}/test`);
    await receiver.until((received) => received.length === 1);
    const signatures = String(receiver.received[0]?.headers['webhook-signature']).split(' ');
    expect(signatures).toHaveLength(1);
  });
});

describe('a secret', () => {
  it('is in no log, job, error, delivery or row', async () => {
    const url = testRedisUrl();
    // A raw connection, not a Redis client: other commands may arrive before a client knows that it
    // is in monitor mode.
    const monitor = await connectTo(url.toString());
    monitor.write('MONITOR\r\n');
    await monitor.until(/\+OK/);
    const trace = { LOG_LEVEL: 'trace' };
    const [api, worker] = await Promise.all([
      started(startApi, K1, trace),
      started(startWorker, K1, trace),
    ]);
    const client = clientOf(api.url, account.auth);
    const refused = receiver.url.replace('//', '//hidden-user:hidden-p%40ss@');
    const headers = { 'X-Api-Key': 'hidden-header' };
    const answers: string[] = [];
    const note = ({ text }: { text: string }) => answers.push(text);
    receiver.answering = (_, response) => response.writeHead(500).end('no');

    const payload = { p: 'payload-of-customer' };
    const path = await create(client, { targetUrl: refused, headers, payload });
    const other = await create(client, { targetUrl: refused, signature: 'ed25519' });
    const { secret } = (await client.get(`${path}/secret`)).json<{ secret: string }>();
    const [row] = await database.query<{ secret: Sealed }>(
      'SELECT secret FROM webhooks WHERE public_key IS NOT NULL',
    );
    const key = createSecretKey(Buffer.alloc(32, '1'));
    const box = new SecretBox([{ id: 'k1', key }]);
    const privateKey = box.open(row!.secret, `webhook secret of account ${account.id}`);
    const rotated = (await client.post(`${path}/secret/rotate`)).json<{ secret: string }>();

    note(await client.put(path, { headers: { ...headers, 'X-Other': 'hidden-other' } }));
    note(await client.put(path, { targetUrl: `${refused}/path` }));
    note(await client.put(path, { headers: { 'X Y': 'hidden-value' } }));
    note(await client.put(path, { headers: { Authorization: 'hidden-bearer' } }));
    note(await client.put(path, { targetUrl: `${refused}#hidden-fragment` }));
    note(await client.put(path, `{"targetUrl": "${refused}", "headers": {"a": "hidden-broken"`));
    note(await client.post('/v1/webhooks', { targetUrl: 'https://a:hidden-b@127.0.0.1:1/' }));
    for (const webhook of [path, other]) {
      note(await client.post(`${webhook}/test`));
      note(await client.get(webhook));
      note(await client.get(`${webhook}/deliveries`));
    }
    const data = { d: 'data-of-customer' };
    const event = { event: 'cdrCreated', resource: 'call', accountId: account.id, data };
    await clientOf(api.url, platform.auth).post('/v1/events', event);
    const finished = await eventually(
      () => database.query<{ id: string; state: string }>('SELECT id, state FROM deliveries'),
      (rows) => rows.length === 4 && rows.every(({ state }) => state === 'exhausted'),
    );
    for (const { id } of finished) note(await client.get(`/v1/deliveries/${id}`));
    await Promise.all([api.stop(), worker.stop()]);
    const rows = await Promise.all(
      ['webhooks', 'events', 'deliveries', 'attempts'].map((table) =>
        database.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t`),
      ),
    );
    const commands = monitor.received();
    monitor.destroy();

    // The requests did carry all secrets, so there was something to find.
    const sent = receiver.received.map((received) => JSON.stringify(received.headers)).join();
    expect(sent).toContain('hidden-header');
    expect(sent).toContain(Buffer.from('hidden-user:hidden-p@ss').toString('base64'));
    expect(commands).toContain(finished[0]!.id);
    expect(worker.output()).toContain('"msg":"attempt"');
    expect(api.output()).toMatch(/^\{"level":"debug".*"path":"\/v1\/events".*"msg":"request"/m);
    for (const content of ['payload-of-customer', 'data-of-customer', 'demo-secret']) {
      expect(api.output() + worker.output()).not.toContain(content);
    }
    const everything = [
      api.output(),
      worker.output(),
      commands,
      answers.join('\n'),
      rows
        .flat()
        .map(({ text }) => text)
        .join('\n'),
    ];
    const hidden = [
      'hidden-user',
      'hidden-p',
      'hidden-header',
      'hidden-other',
      'hidden-value',
      'hidden-bearer',
      'hidden-broken',
      'hidden-b',
      Buffer.from('hidden-user:hidden-p').toString('base64').slice(0, 20),
      ...[secret, rotated.secret, privateKey].map((text) => text.split('_')[1]!),
    ];
    for (const text of everything) {
      expect(text).not.toBe('');
      for (const word of hidden) expect(text.includes(word), word).toBe(false);
    }
  });
});
