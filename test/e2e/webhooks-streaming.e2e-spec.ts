import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { basic, type Client, clientOf } from '../support/http.js';
import { expectProblem } from '../support/problem.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { largeSubscriptions } from '../support/rows.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

/** About 24 MB of answer: more than all socket buffers on the way hold. */
const APPLICATIONS = 300;

let database: TestDatabase;
let store: TcpProxy;
let api: ServiceProcess;
let client: Client;
let auth: string;
const readers: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const user = await createUser(database, 'many');
  auth = user.auth;
  await largeSubscriptions(database, user.id, {
    applications: APPLICATIONS,
    payloadBytes: 8_000,
  });
  store = await proxyTo(database.url);
  api = await startApi({ DATABASE_URL: store.address, DATABASE_POOL_SIZE: '2' });
  client = clientOf(api.url, auth);
});
afterEach(() => {
  // Otherwise these lists, which belong to the same account, would be read before those of the next
  // test.
  for (const reader of readers.splice(0)) reader.destroy();
});
afterAll(async () => {
  await api.stop();
  await store.close();
  await database.drop();
});

/** A client that requests the whole list and stops reading after its start. */
const aStalledReader = () => aReader(true);

async function aReader(awaitsStart: boolean): Promise<Socket> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  readers.push(socket);
  socket.write(
    `GET /v1/webhooks?scope=all HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(auth)}\r\n\r\n`,
  );
  if (awaitsStart) await once(socket, 'readable');
  else socket.pause();
  return socket;
}

/** The rest of the answer, once the socket is read to its end. */
async function theRest(socket: Socket): Promise<string> {
  const chunks: string[] = [];
  socket.setEncoding('latin1').on('data', (text: string) => {
    chunks.push(text);
    if (text.endsWith('0\r\n\r\n')) socket.destroy();
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return chunks.join('');
}

it('holds no database connection while clients are slow to read a list', async () => {
  const stalled = await Promise.all(Array.from({ length: 6 }, aStalledReader));
  // Long enough for the buffers to fill; the API reads no more of the list then.
  await delay(500);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => client.get('/v1/applications?limit=1')),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  const list = await theRest(stalled[0]!);
  expect(list).toMatch(/^HTTP\/1\.1 200 /);
  expect(list.match(/"payload":/g)).toHaveLength(APPLICATIONS * 10);
  expect(list.endsWith('0\r\n\r\n')).toBe(true);
});

it('answers a page of megabytes in pieces, complete, with the address of the next page', async () => {
  const first = await client.get('/v1/webhooks?scope=all&limit=1000');
  const all = first.json<{ id: string }[]>();
  expect(all).toHaveLength(1_000);
  expect(first.headers['content-length']).toBeUndefined();
  expect(first.headers.link).toContain(`after=${all.at(-1)!.id}`);
  const small = await client.get('/v1/webhooks?scope=all&limit=5');
  expect(small.headers['content-length']).toBe(String(Buffer.byteLength(small.text)));
  const second = await client.get(`/v1/webhooks?scope=all&limit=1000&after=${all.at(-1)!.id}`);
  const ids = new Set([...all, ...second.json<{ id: string }[]>()].map(({ id }) => id));
  expect(ids.size).toBe(2_000);
  // Node warns of leaks there.
  expect(api.output()).not.toContain('MaxListenersExceededWarning');
});

it('uses little memory for clients that read nothing, and refuses further requests of their account', async () => {
  const before = api.memory();
  const unread = await Promise.all(Array.from({ length: 210 }, () => aReader(false)));
  await delay(1_500);
  expect(api.memory() - before).toBeLessThan(150);
  const refused = await client.get('/v1/applications?limit=1');
  expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(refused.headers['retry-after']).toBe('1');
  const other = await createUser(database, 'another');
  expect((await clientOf(api.url, other.auth).get('/v1/webhooks')).status).toBe(200);
  for (const socket of unread) socket.destroy();
  await expect.poll(async () => (await client.get('/v1/applications?limit=1')).status).toBe(200);
});

it('closes the connection when the database goes down in the middle of a list', async () => {
  const reader = await aStalledReader();
  await delay(500);
  store.down();
  try {
    const list = await theRest(reader);
    expect(list).toMatch(/^HTTP\/1\.1 200 /);
    expect(list.endsWith('0\r\n\r\n')).toBe(false);
  } finally {
    store.up();
  }
});

it('answers 503 when the database is down before the first byte', async () => {
  expect((await client.get('/v1/webhooks')).status).toBe(200);
  store.down();
  try {
    const answer = await client.get('/v1/webhooks?scope=all');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();
    expect(answer.json()).toMatchObject({ code: 'unavailable' });
  } finally {
    store.up();
  }
});
