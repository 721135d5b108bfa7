import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextCycle } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { startConnectProxy } from '../support/connect-proxy.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** How the server handles a request, by the number of earlier ones on its connection. */
type Answering = (socket: Socket, earlier: number) => void;

let client: TestTargetClient;
let server: Server;
let answering: Answering;
/** The number of its connection for each request, in order. */
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

/** Answers the first request of each connection, and ends the connection at the second. */
const answerOnceThen =
  (end: (socket: Socket) => unknown): Answering =>
  (socket, earlier) => {
    if (earlier === 0) socket.write(OK);
    else end(socket);
  };

const reset = (socket: Socket) => socket.resetAndDestroy();

/** Waits for the calls and leaves their connections open for reuse. */
async function keepOpen(...posts: Promise<unknown>[]): Promise<void> {
  await Promise.all(posts);
  await nextCycle();
}

describe('a kept-alive connection', () => {
  it.each([
    ['is reset', reset],
    ['is closed', (socket: Socket) => socket.end()],
  ])('that %s before an answer does not make the attempt fail', async (_, end) => {
    answering = answerOnceThen(end);
    await keepOpen(client.post(url));
    const answer = await client.post(url);
    expect(answer).toMatchObject({ status: 200, responseBody: 'ok', address: '127.0.0.1' });
    expect(requests).toEqual([1, 1, 2]);
  });

  it.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'])(
    'that is reset after %j is not replaced by another',
    async (start) => {
      answering = answerOnceThen((socket) =>
        socket.write(start, () => setTimeout(() => reset(socket), 50)),
      );
      await keepOpen(client.post(url));
      expect(await client.post(url)).toMatchObject({ error: 'reset' });
      expect(requests).toEqual([1, 1]);
    },
  );

  it('that fails is replaced by a new connection, not by another kept-alive one', async () => {
    answering = (socket) => {
      if (requests.length < 4) socket.write(OK);
      // By then the other connection is free.
      else setTimeout(() => (requests.length === 4 ? reset(socket) : socket.write(OK)), 100);
    };
    await keepOpen(client.post(url), client.post(url));
    const answers = await Promise.all([client.post(url), client.post(url)]);
    expect(answers).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(requests.slice(4)).toEqual([3]);
  });

  it('that fails is replaced only once', async () => {
    answering = (socket, earlier) => {
      if (requests.length === 1) socket.write(OK);
      else if (earlier <= 1) reset(socket);
    };
    await keepOpen(client.post(url));
    expect(await client.post(url)).toMatchObject({ error: 'reset' });
    expect(requests).toEqual([1, 1, 2]);
  });

  it('that fails leaves its replacement only the rest of the timeout', async () => {
    answering = (socket, earlier) => {
      if (requests.length === 1) socket.write(OK);
      else if (earlier === 1) setTimeout(() => reset(socket), 1_000);
    };
    await keepOpen(client.post(url, 2_000));
    const { error, durationMs } = await client.post(url, 2_000);
    expect(error).toBe('timeout');
    expect(durationMs).toBeLessThan(2_800);
    expect(requests).toEqual([1, 1, 2]);
  });
});

it('a new connection that is reset makes the attempt fail, with and without a proxy', async () => {
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

describe('a connection is not used again', () => {
  it('by another account, whose answer its target may have written in advance', async () => {
    answering = (socket) => socket.write(OK);
    await keepOpen(client.post(url));
    const other = client.post(url, undefined, { accountId: '2' });
    await keepOpen(other);
    expect(await other).toMatchObject({ status: 200, responseBody: 'ok' });
    await keepOpen(client.post(url));
    expect(requests).toEqual([1, 2, 1]);
  });

  it.each([16_000, 130_000, 1 << 20])(
    'after a request of %d bytes that was answered, but not read to its end',
    async (bytes) => {
      answering = (socket) => {
        socket.pause();
        socket.write(OK);
      };
      for (let times = 1; times <= 4; times += 1) {
        const posting = client.post(url, 2_000, { body: 'x'.repeat(bytes) });
        await keepOpen(posting);
        expect(await posting).toMatchObject({ status: 200, responseBody: 'ok' });
        expect(requests).toHaveLength(times);
      }
      expect(requests).toEqual([1, 2, 3, 4]);
    },
  );

  const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n';
  const LONG = OK.replace('Length: 2', 'Length: 9000');
  it.each<[what: string, answer: string, expected: object]>([
    ['after a timeout', '', { error: 'timeout' }],
    ['after an incomplete head', 'HTTP/1.1 200 OK\r\n', { error: 'timeout' }],
    ['after an answer that did not end in time', LONG, { status: 200, truncated: true }],
    ['after the start of a long answer', LONG + 'x'.repeat(5_000), { truncated: true }],
    ['after an answer that names no length', 'HTTP/1.1 200 OK\r\n\r\nok', { truncated: true }],
    ['when the target wants to close it', OK.replace('C', 'Connection: close\r\nC'), {}],
    ['in HTTP/1.0', OK.replace('1.1', '1.0'), { responseBody: 'ok' }],
    ['when it will soon be closed', OK.replace('C', 'Keep-Alive: timeout=1\r\nC'), {}],
    ['after a second answer', `${OK}${OK.replace('ok', 'no')}`, { responseBody: 'ok' }],
    ['after an answer with surplus bytes', `${OK}surplus`, { responseBody: 'ok' }],
    ['after an interim answer behind the final one', `${OK}${INTERIM}`, { responseBody: 'ok' }],
    ['after too many interim answers', INTERIM.repeat(17), { error: 'protocol' }],
    ['after a switch of protocols', 'HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n', { error: 'protocol' }],
  ])('%s', async (_, answer, expected) => {
    answering = (socket) => {
      // Bytes of the first answer must not become the second.
      if (requests.length === 1) socket.write(answer);
      else socket.write(OK.replace('ok', 'OK'));
    };
    const first = client.post(url, 2_000);
    await keepOpen(first);
    expect(await first).toMatchObject(expected);
    expect(await client.post(url, 2_000)).toMatchObject({ status: 200, responseBody: 'OK' });
    expect(requests).toHaveLength(2);
    expect(requests[1]).not.toBe(requests[0]);
  });

  it.each([OK.replace('ok', 'no'), 'H'])('after unsolicited bytes: %j', async (bytes) => {
    let connection: Socket | undefined;
    answering = (socket) => {
      connection = socket;
      socket.write(OK);
    };
    await keepOpen(client.post(url));
    connection!.write(bytes);
    await eventually(
      () => connection!.destroyed,
      (destroyed) => destroyed,
    );
    expect(await client.post(url)).toMatchObject({ status: 200, responseBody: 'ok' });
    expect(requests).toEqual([1, 2]);
  });
});
