import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { InFlight } from '#libs/http';
import { Database } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { EventStream } from '../support/event-stream.js';
import { basic, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { largeSubscriptions } from '../support/rows.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
/** Each kind of request is cut off at this many moments, from before it is read until after its answer started. */
const MOMENTS = 100;
const APART_MS = 4;
const RECHECKS = ['sessions.find', 'logins.principal-of'];

let database: TestDatabase;
let redis: Redis;
let api: InProcess;
let password: { auth: string; id: string };
let browser: Record<string, string>;
let bystander: EventStream;

/** Intervals that were started and not stopped. */
const intervals = new Set<unknown>();
/** The values of each statement that checks a login again. */
const rechecks: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  redis = new Redis(testRedisUrl().toString());
  api = await apiInProcess({ DATABASE_URL: database.url });
  password = await createUser(database, 'leaving');
  await largeSubscriptions(database, password.id, { applications: 20, payloadBytes: 16_000 });
  browser = await aSession((await createUser(database, 'browser')).auth);
  const headers = await aSession((await createUser(database, 'bystander')).auth);
  bystander = await EventStream.open(`${api.url}/v1/stream`, undefined, headers);
  watchIntervals();
  watchRechecks();
});
afterAll(async () => {
  bystander.close();
  vi.restoreAllMocks();
  await api.stop();
  redis.disconnect();
  await database.drop();
});

/** @returns the headers of a page with a new session */
async function aSession(auth: string) {
  const answer = await clientOf(api.url).post('/v1/session', undefined, {
    auth,
    headers: SAME_ORIGIN,
  });
  const cookie = answer.headers['set-cookie']![0]!.split(';', 1)[0]!;
  return { ...SAME_ORIGIN, cookie };
}

function watchIntervals(): void {
  const { setInterval, clearInterval } = globalThis;
  vi.spyOn(globalThis, 'setInterval').mockImplementation((...given) => {
    const interval = setInterval(...given);
    intervals.add(interval);
    return interval;
  });
  vi.spyOn(globalThis, 'clearInterval').mockImplementation((interval) => {
    intervals.delete(interval);
    clearInterval(interval);
  });
}

function watchRechecks(): void {
  const database = api.app.get(Database, { strict: false });
  const { run } = database;
  vi.spyOn(database, 'run').mockImplementation((statement, ...given) => {
    if (RECHECKS.includes(statement.name ?? '')) rechecks.push(JSON.stringify(given));
    return run(statement, ...given);
  });
}

const HOST = 'Host: localhost\r\n';
const lines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
const byPassword = () => `${HOST}Authorization: ${basic(password.auth)}\r\n`;
const bySession = () => HOST + lines(browser);
const JSON_TYPE = 'Content-Type: application/json\r\n';
const half = (body: Uint8Array, head: string) =>
  Buffer.concat([
    Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`),
    body.subarray(0, body.length / 2),
  ]);
const APPLICATION = Buffer.from(JSON.stringify({ name: 'a'.repeat(200), voiceUrl: 'http://v/' }));

/** What is sent, by how many clients at a time. */
const REQUESTS: [what: string, bytes: () => string | Uint8Array, atOnce?: number][] = [
  ['a stream of a session', () => `GET /v1/stream HTTP/1.1\r\n${bySession()}\r\n`, 5],
  ['a stream of a password', () => `GET /v1/stream HTTP/1.1\r\n${byPassword()}\r\n`, 5],
  [
    'several streams, one behind the other',
    () => `GET /v1/stream HTTP/1.1\r\n${bySession()}\r\n`.repeat(5),
    5,
  ],
  ['a long list', () => `GET /v1/webhooks?scope=all HTTP/1.1\r\n${byPassword()}\r\n`],
  ['a long page', () => `GET /v1/webhooks?scope=all&limit=1000 HTTP/1.1\r\n${byPassword()}\r\n`],
  ['a search', () => `GET /v1/events?resource=sms HTTP/1.1\r\n${byPassword()}\r\n`],
  ['a wrong password', () => `GET /v1/events HTTP/1.1\r\n${HOST}Authorization: Basic eDp4\r\n\r\n`],
  [
    'half a body',
    () => half(APPLICATION, `POST /v1/applications HTTP/1.1\r\n${byPassword()}${JSON_TYPE}`),
  ],
  [
    'half a compressed body',
    () =>
      half(
        gzipSync(APPLICATION),
        `POST /v1/applications HTTP/1.1\r\n${byPassword()}${JSON_TYPE}Content-Encoding: gzip\r\n`,
      ),
  ],
  [
    'a change',
    () =>
      `POST /v1/applications HTTP/1.1\r\n${byPassword()}${JSON_TYPE}Idempotency-Key: ${randomUUID()}\r\n` +
      `Content-Length: ${APPLICATION.length}\r\n\r\n${APPLICATION.toString()}`,
  ],
  [
    'a body that does not begin',
    () => `POST /v1/applications HTTP/1.1\r\n${byPassword()}Transfer-Encoding: chunked\r\n\r\n`,
  ],
];

/** Sends bytes on a connection that is closed some time later. */
async function leave(bytes: string | Uint8Array, afterMs: number): Promise<void> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await new Promise((resolve) => socket.write(bytes, resolve));
  if (afterMs > 0) await sleep(afterMs);
  if (afterMs % 8 === 0) socket.destroy();
  else socket.resetAndDestroy();
}

async function leaveAtEveryMoment(bytes: () => string | Uint8Array, atOnce: number): Promise<void> {
  const moments = Array.from({ length: MOMENTS }, (_, n) => n * APART_MS);
  const client = async (): Promise<void> => {
    for (let ms = moments.pop(); ms !== undefined; ms = moments.pop()) await leave(bytes(), ms);
  };
  await Promise.all(Array.from({ length: atOnce }, client));
}

/** What requests hold in the process and in Redis. */
async function held() {
  const { accounts, reads } = api.app.get<
    InFlight,
    { accounts: Map<string, unknown>; reads: { running: number } }
  >(InFlight, { strict: false });
  const listeners = await redis.keys('{switchhook:activity}:listeners:*');
  const places = await Promise.all(listeners.map((key) => redis.zcard(key)));
  const server = api.app.getHttpServer();
  const connections = await promisify(server.getConnections.bind(server))();
  return {
    accounts: accounts.size,
    reads: reads.running,
    places: places.reduce((sum, count) => sum + count, 0),
    connections,
    intervals: intervals.size,
  };
}

/** Waits until the service has checked the login of the open stream three times. @returns all logins that it checked */
async function recheckedMeanwhile(): Promise<Set<string>> {
  rechecks.length = 0;
  const times = (login: string) => rechecks.filter((one) => one === login).length;
  return eventually(
    () => new Set(rechecks),
    (logins) => [...logins].some((login) => times(login) >= 3),
  );
}

/** The counters of failed logins, with the failures that they count. */
async function failedLogins() {
  const keys = await redis.keys('switchhook:login:*');
  const counts = keys.sort().map(async (key) => [key, await redis.hgetall(key)] as const);
  return Promise.all(counts);
}

describe('a client that leaves at any moment', () => {
  it.each(REQUESTS)('leaves nothing of %s', async (_, bytes, atOnce = 20) => {
    const before = await held();
    await leaveAtEveryMoment(bytes, atOnce);
    await eventually(held, (now) => isDeepStrictEqual(now, before));
  });

  it('does not count as a failed login after its session has ended', async () => {
    const before = await failedLogins();
    await clientOf(api.url).delete('/v1/session', { headers: browser });
    expect((await recheckedMeanwhile()).size).toBe(1);
    expect(await failedLogins()).toEqual(before);
    const headers = await aSession(password.auth);
    expect((await clientOf(api.url).get('/v1/session', { headers })).status).toBe(200);
  });
});
