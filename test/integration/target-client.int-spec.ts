import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '#libs/kernel';
import { UndiciTargetClient } from '../../libs/webhooks/src/infrastructure/undici-target.client.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

let client: UndiciTargetClient;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  const config = { DATABASE_URL: 'unused', DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  client = new UndiciTargetClient(readConfig(config));
});
afterEach(async () => {
  await client.onApplicationShutdown();
  await receiver.close();
});

const post = (url: string) =>
  client.post({
    url,
    headers: { 'content-type': 'application/json' },
    body: '{}',
    timeoutMs: 5_000,
  });

it('tells of Retry-After, however long the headers before it are', async () => {
  receiver.answering = (_, response) =>
    response
      .writeHead(503, { 'content-security-policy': 'x'.repeat(8_000), 'retry-after': '120' })
      .end();
  const { responseHeaders } = await post(receiver.url);
  expect(responseHeaders).toEqual({ 'retry-after': '120' });
});

it.each([
  ['us%C3%A9r:p%40ss', 'usér:p@ss', 'utf8'],
  ['us%E9r:p', 'usér:p', 'latin1'],
  ['100%:5%2', '100%:5%2', 'utf8'],
] as const)('sends the user information %s byte for byte', async (userinfo, pair, encoding) => {
  const { status } = await post(receiver.url.replace('http://', `http://${userinfo}@`));
  expect(status).toBe(200);
  const { authorization = '' } = receiver.received[0]?.headers ?? {};
  expect(Buffer.from(authorization.slice(6), 'base64')).toEqual(Buffer.from(pair, encoding));
});

it.each([
  ['HTTP/1.0 200 OK\r\n\r\nold', { status: 200, responseBody: 'old' }],
  ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n', { status: 204 }],
  ['HTTP/1.1 200 OK\r\nX-Name: \xe9\r\nContent-Length: 0\r\n\r\n', { status: 200 }],
  [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, { error: 'protocol' }],
  ['SSH-2.0-OpenSSH_9.2\r\n', { error: 'protocol' }],
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut', { status: 200, truncated: true }],
] as const)('understands %j', async (answer, expected) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    expect(await post(`http://127.0.0.1:${String(port)}/`)).toMatchObject(expected);
  } finally {
    server.close();
  }
});
