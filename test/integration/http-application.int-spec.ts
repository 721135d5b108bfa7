import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { connectTo } from '../support/raw-connection.js';

let database: TestDatabase;
let app: NestExpressApplication;
let base: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ app, url: base } = await apiInProcess({ DATABASE_URL: database.url }));
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

it("creates requests and responses with Express's prototypes, because changing them later is slow", async () => {
  const { request, response } = app.getHttpAdapter().getInstance();
  const server = app.getHttpServer();
  const made: object[] = [];
  const prototypes = () => made.map((one): unknown => Object.getPrototypeOf(one));
  let first: unknown[] = [];
  server.prependListener('request', (...messages: [IncomingMessage, ServerResponse]) => {
    made.push(...messages);
    first = prototypes();
  });
  expect((await fetch(`${base}/health/live`)).status).toBe(200);
  for (const found of [first, prototypes()]) {
    expect(found).toHaveLength(2);
    expect(found[0]).toBe(request);
    expect(found[1]).toBe(response);
  }
});

it('closes every answer of a lost connection, even those queued behind another', async () => {
  const states = { open: 0, opened: 0 };
  app.getHttpServer().prependListener('request', (_: unknown, response: ServerResponse) => {
    states.open += 1;
    states.opened += 1;
    response.once('close', () => (states.open -= 1));
  });
  const connection = await connectTo(base);
  // Each is refused, and the refusals are sent one after another.
  connection.write('GET /v1/webhooks HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
  await connection.until(/401/);
  connection.destroy();
  await vi.waitFor(() => expect(states).toEqual({ open: 0, opened: 10 }));
});

const REFUSED = 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n';
const TUNNEL = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/**
 * Sends the parts one after another and resets the connection: an unhandled error would end the
 * process.
 */
it.each([
  ['a tunnel', [TUNNEL]],
  ['a tunnel after a refusal', [REFUSED, TUNNEL]],
  ['an upgrade after a refusal', [REFUSED, UPGRADE]],
])('survives a connection that is reset after %s', async (_what, parts) => {
  const ended: unknown[] = [];
  const note = (error: unknown): void => void ended.push(error);
  process.prependListener('uncaughtException', note);
  const { port, hostname } = new URL(base);
  const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  client.on('error', () => undefined);
  for (const part of parts) {
    client.write(part);
    await sleep(100);
  }
  client.resetAndDestroy();
  await sleep(100);
  process.off('uncaughtException', note);
  expect(ended).toEqual([]);
  expect((await fetch(`${base}/health/live`)).status).toBe(200);
});

it('answers the request before a tunnel first', async () => {
  const connection = await connectTo(base);
  connection.write(`GET /v1/webhooks HTTP/1.1\r\nHost: x\r\n\r\n${TUNNEL}`);
  await connection.until(/HTTP/);
  expect(connection.received()).toMatch(/^HTTP\/1\.1 401 /);
  connection.destroy();
});

it('answers a first request that waited longer than its timeout because the process was busy', async () => {
  const server = app.getHttpServer();
  const { headersTimeout } = server;
  server.headersTimeout = 1_000;
  const connection = await connectTo(base);
  await sleep(50);
  // Timers run before sockets are read; timeouts are checked once a second.
  setImmediate(() => {
    connection.write('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const end = performance.now() + 2_500;
    while (performance.now() < end);
  });
  await connection.ended;
  server.headersTimeout = headersTimeout;
  expect(connection.received()).toMatch(/^HTTP\/1\.1 200 /);
});
