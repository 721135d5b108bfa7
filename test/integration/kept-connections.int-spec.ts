import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextCycle } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startConnectProxy } from '../support/connect-proxy.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** What the server does with a request, by how many came on its connection before. */
type Answering = (socket: Socket, earlier: number) => void;

let client: TestTargetClient;
let server: Server;
let answering: Answering;
/** For each request in order: the number of its connection. */
let requests: number[];
let url: string;

beforeEach(async () => {
  client = aTargetClient(LOOPBACK);
  requests = [];
  let connections = 0;
  server = createServer((socket) => {
    const connection = (connections += 1);
    let earlier = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests.push(connection);
      answering(socket, earlier);
      earlier += 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
});
afterEach(async () => {
  await client.close();
  server.close();
});

/** Answers the first request of each connection; with the second the connection meets its end. */
const then =
  (end: (socket: Socket) => unknown): Answering =>
  (socket, earlier) => {
    if (earlier === 0) socket.write(OK);
    else end(socket);
  };

const reset = (socket: Socket) => socket.resetAndDestroy();

/** Leaves its connection open, and ready to be used again. */
async function prepare(...posts: Promise<unknown>[]): Promise<void> {
  await Promise.all(posts);
  await nextCycle();
}

describe('a connection that was kept open', () => {
  it.each([
    ['is reset', reset],
    ['is closed', (socket: Socket) => socket.end()],
  ])('and %s before an answer makes no attempt fail', async (_, end) => {
    answering = then(end);
    await prepare(client.post(url));
    const answer = await client.post(url);
    expect(answer).toMatchObject({ status: 200, responseBody: 'ok', address: '127.0.0.1' });
    expect(requests).toEqual([1, 1, 2]);
  });

  it.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'])(
    'and is reset after %j is not followed by another',
    async (start) => {
      answering = then((socket) => socket.write(start, () => setTimeout(() => reset(socket), 50)));
      await prepare(client.post(url));
      expect(await client.post(url)).toMatchObject({ error: 'reset' });
      expect(requests).toEqual([1, 1]);
    },
  );

  it('is followed by a new connection, not by another that was kept open', async () => {
    answering = (socket) => {
      if (requests.length < 4) socket.write(OK);
      // By then the other one is free.
      else setTimeout(() => (requests.length === 4 ? reset(socket) : socket.write(OK)), 100);
    };
    await prepare(client.post(url), client.post(url));
    const answers = await Promise.all([client.post(url), client.post(url)]);
    expect(answers).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(requests.slice(4)).toEqual([3]);
  });

  it('is followed by no third one', async () => {
    answering = (socket, earlier) => {
      if (requests.length === 1) socket.write(OK);
      else if (earlier <= 1) reset(socket);
    };
    await prepare(client.post(url));
    expect(await client.post(url)).toMatchObject({ error: 'reset' });
    expect(requests).toEqual([1, 1, 2]);
  });

  it('leaves the new one what is left of the time', async () => {
    answering = (socket, earlier) => {
      if (requests.length === 1) socket.write(OK);
      else if (earlier === 1) setTimeout(() => reset(socket), 600);
    };
    await prepare(client.post(url, 1_000));
    const { error, durationMs } = await client.post(url, 1_000);
    expect(error).toBe('timeout');
    expect(durationMs).toBeLessThan(1_300);
    expect(requests).toEqual([1, 1, 2]);
  });
});

it('a new connection that is reset fails the attempt, behind a proxy, too', async () => {
  answering = reset;
  expect(await client.post(url)).toMatchObject({ error: 'reset' });
  const proxy = await startConnectProxy();
  const behindProxy = aTargetClient({ ...LOOPBACK, DELIVERY_PROXY_URL: proxy.url });
  try {
    expect(await behindProxy.post(url)).toMatchObject({ error: 'reset' });
  } finally {
    await behindProxy.close();
    await proxy.close();
  }
  expect(requests).toEqual([1, 2]);
});
