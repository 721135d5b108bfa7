import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { basic, clientOf, send } from '../support/http.js';
import { launch, startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { connectTo } from '../support/raw-connection.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

let database: TestDatabase;
let store: TcpProxy;
let api: ServiceProcess;
let auth: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ auth } = await createUser(database, 'switch', 'platform'));
  store = await proxyTo(database.url);
  api = await startApi({ DATABASE_URL: store.address });
});
afterAll(async () => {
  await api.stop();
  await store.close();
  await database.drop();
});

const head = (more: string, authorization?: string) =>
  'POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
  (authorization === undefined ? '' : `Authorization: ${authorization}\r\n`) +
  `${more}\r\n\r\n`;

describe('a request body', () => {
  it('is never waited for without credentials', async () => {
    for (const length of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
      const connection = await connectTo(api.url);
      connection.write(head(length));
      await connection.until(/^HTTP\/1\.1 401 [^]*"code":"unauthorized"/);
      connection.destroy();
    }
  });

  it('is not requested with 100 Continue if the request is refused anyway', async () => {
    const expecting = 'Content-Length: 15\r\nExpect: 100-continue';
    const connection = await connectTo(api.url);
    connection.write(head(expecting));
    const answer = await connection.until(/"code":"unauthorized"/);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toMatch(/^connection: close/im);
    await connection.ended;
    const tooLong = await connectTo(api.url);
    tooLong.write(head('Content-Length: 100000000\r\nExpect: 100-continue', basic(auth)));
    expect(await tooLong.until(/"code":"body_too_large"/)).toMatch(/^HTTP\/1\.1 413 /);
    await tooLong.ended;
  });

  it('is requested with 100 Continue if the route reads it, and the connection stays open', async () => {
    const connection = await connectTo(api.url);
    for (const username of ['expecting1', 'expecting2']) {
      const body = JSON.stringify({ username, password: 'long enough' });
      const length = `Content-Length: ${body.length}\r\nExpect: 100-continue`;
      connection.write(head(length, basic(auth)));
      const earlier = connection.received().length;
      await connection.until(/HTTP\/1\.1 100 Continue\r\n\r\n$/);
      connection.write(body);
      await connection.until(/"href":"[^"]+",[^}]*\}$/);
      expect(connection.received().slice(earlier)).toMatch(/HTTP\/1\.1 200 OK\r\n/);
    }
    connection.destroy();
  });
});

it('answers 503 while PostgreSQL is down, and recovers when it is back', async () => {
  const client = clientOf(api.url, auth);
  const show = async () => (await client.get('/v1/users/switch')).status;
  expect(await show()).toBe(200);
  store.down();
  await delay(1_100);
  const away = await client.get('/v1/users/switch');
  expect(away.status).toBe(503);
  expect(away.headers['retry-after']).toMatch(/^\d+$/);
  expect(away.json()).toMatchObject({ code: 'unavailable' });
  const unknown = await client.get('/v1/users/switch', { auth: 'nobody:long enough' });
  expect(unknown.status).toBe(503);
  expect((await client.get('/health/live')).status).toBe(200);
  store.up();
  expect(await show()).toBe(200);
});

describe('SIGTERM', () => {
  it('lets requests in flight finish, closes idle connections and ends the process', async () => {
    const own = await startApi({ DATABASE_URL: database.url });
    const idle = await connectTo(own.url);
    idle.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.until(/"up"/);
    const body = '{"username": "late", "password": "long enough"}';
    const underWay = await connectTo(own.url);
    underWay.write(head(`Content-Length: ${body.length}`, basic(auth)));
    await delay(200);
    const ended = own.stop();
    await idle.ended;
    // It first stores its last counts, for which a busy PostgreSQL may take longer than it keeps an idle connection.
    await eventually(
      () => connectTo(own.url).then(({ destroy }) => destroy(), String),
      (refusal) => refusal?.includes('ECONNREFUSED') === true,
    );
    underWay.write(body);
    expect(await underWay.until(/"href"/)).toMatch(/^HTTP\/1\.1 200 OK/);
    const answeredAt = Date.now();
    expect(await ended).toBe('exited with code 0');
    expect(Date.now() - answeredAt).toBeLessThan(3_000);
  });

  it('keeps accepting requests for SHUTDOWN_DELAY_MS, and reports that it is not ready', async () => {
    const own = await startApi({ DATABASE_URL: database.url, SHUTDOWN_DELAY_MS: '1500' });
    const start = Date.now();
    const ended = own.stop();
    const ready = () => send('GET', `${own.url}/health/ready`);
    const answer = await eventually(ready, ({ status }) => status === 503);
    expect(answer.json()).toEqual({ status: 'down', postgres: 'up', redis: 'up' });
    expect((await send('GET', `${own.url}/v1/users`, { auth })).status).toBe(200);
    expect(await ended).toBe('exited with code 0');
    expect(Date.now() - start).toBeGreaterThanOrEqual(1_500);
  });

  it('does not wait forever for a request that does not end', async () => {
    const own = await startApi({ DATABASE_URL: database.url });
    const stuck = await connectTo(own.url);
    stuck.write(head('Content-Length: 100', basic(auth)));
    await delay(200);
    const start = Date.now();
    expect(await own.stop()).toBe('exited with code 0');
    expect(Date.now() - start).toBeLessThan(8_000);
  });
});

describe('a failed start', () => {
  /** The reason in its log. */
  const reasonOf = async (environment: Record<string, string | undefined>) => {
    const started = await launch('api', environment);
    expect(await started.exited).toBe('exited with code 1');
    return started.log().find(({ level }) => level === 'fatal')?.['msg'];
  };

  it('tells which configuration is missing', async () => {
    const reason = await reasonOf({ DATABASE_URL: undefined, PORT: 'x' });
    expect(reason).toMatch(/^configuration: DATABASE_URL is not set.*PORT/);
  });

  it('tells that the database does not exist', async () => {
    const url = new URL(database.url);
    url.pathname = '/switchhook_test_that_does_not_exist';
    expect(await reasonOf({ DATABASE_URL: url.toString() })).toMatch(/does not exist$/);
  });

  it.each([
    ['PORT', 'api', {}],
    ['WORKER_PORT', 'worker', {}],
    ['WORKER_PORT', 'worker', { DATABASE_URL: 'postgres://127.0.0.1:1/away' }],
    ['METRICS_PORT', 'api', {}],
    ['METRICS_PORT', 'worker', {}],
  ] as const)('says once that the port of %s is in use (%s, %o)', async (setting, kind, other) => {
    const { port } = new URL(api.url);
    const environment = { DATABASE_URL: database.url, [setting]: port, ...other };
    const started = await launch(kind, environment);
    expect(await started.exited).toBe('exited with code 1');
    const errors = started.log().filter(({ level }) => level === 'error' || level === 'fatal');
    expect(errors.map(({ msg }) => msg)).toEqual([
      `configuration: ${setting}: port ${port} is in use`,
    ]);
  });

  it.each([
    ['no-host.invalid', /^configuration: HOST: must be an address of this machine \(E\w+\)$/],
    ['192.0.2.1', /^configuration: HOST: must be an address of this machine \(EADDRNOTAVAIL\)$/],
  ])('names HOST if it is %s', async (HOST, reason) => {
    expect(await reasonOf({ DATABASE_URL: database.url, HOST })).toMatch(reason);
  });
});
