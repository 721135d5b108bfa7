import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

let client: TestTargetClient;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' });
});
afterEach(async () => {
  await client.close();
  await receiver.close();
});

const post = (url: string, timeoutMs?: number) => client.post(url, timeoutMs);

/** Runs `work` with the address of a target that answers with raw bytes. */
async function withTarget(
  answering: (socket: Socket) => void,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    answering(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await work(`http://127.0.0.1:${String(port)}/`);
  } finally {
    server.close();
  }
}

/** Writes the same text again and again, as fast as it is read. */
function writeEndlessly(socket: Socket, text: string, onTaken: () => void = () => undefined): void {
  while (!socket.destroyed && socket.write(text)) onTaken();
  if (!socket.destroyed) socket.once('drain', () => writeEndlessly(socket, text, onTaken));
}

it('measures each part of a call that takes place', async () => {
  const waitMs = 60;
  receiver.answering = (_, response) => {
    setTimeout(() => {
      response.writeHead(200).write('x');
      setTimeout(() => response.end('y'), waitMs);
    }, waitMs);
  };
  const { phases: first, durationMs } = await post(receiver.url);
  expect(Object.keys(first).sort()).toEqual(['body', 'connect', 'firstByte']);
  expect(first.firstByte).toBeGreaterThan(waitMs - 5);
  // On a busy machine, the first byte is noticed late, at the cost of the rest.
  expect(first.firstByte! + first.body!).toBeGreaterThan(2 * waitMs - 10);
  expect(first.connect! + first.firstByte!).toBeLessThanOrEqual(durationMs);
  // undici needs a moment to see that the connection is free.
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  const { phases: second } = await post(receiver.url);
  expect(Object.keys(second).sort()).toEqual(['body', 'firstByte']);
  receiver.answering = () => undefined;
  const { phases: silent } = await post(receiver.url, 1_000);
  expect(silent).not.toHaveProperty('firstByte');
  await receiver.close();
  const { phases: refused, error } = await post(receiver.url);
  expect([error, refused]).toEqual(['refused', {}]);
  receiver = await startReceiver();
});

it('returns Retry-After even after long headers', async () => {
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
  [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    { status: 200, responseBody: 'ok' },
  ],
  [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(60_000)}\r\n\r\n`, { status: 200 }],
  [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, { error: 'protocol' }],
  [
    `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16)}HTTP/1.1 204 No Content\r\n\r\n`,
    { status: 204 },
  ],
  ['\r\nHTTP/1.1 204 No Content\r\n\r\n', { status: 204 }],
  [`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(200)}\r\n`, { status: 200 }],
  [`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(300)}\r\n`, { error: 'protocol' }],
  ['HTTP/2.0 200 OK\r\n\r\n', { error: 'protocol' }],
  ['SSH-2.0-OpenSSH_9.2\r\n', { error: 'protocol' }],
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut', { status: 200, truncated: true }],
] as const)('understands %j', async (answer, expected) => {
  const answering = (socket: Socket): void => {
    socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')));
  };
  await withTarget(answering, async (url) => {
    expect(await post(url)).toMatchObject(expected);
  });
});

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';

it.each<[what: string, pieces: string[], body: string]>([
  ['in pieces', ['HT', 'TP/1.1 100 Con', 'tinue\r\n', '\r\n', `${OK}ok`], 'ok'],
  ['twice', [`${CONTINUE}${CONTINUE}`, `${OK}ok`], 'ok'],
  ['after other interim answers', [`HTTP/1.1 103 Early Hints\r\n\r\n${CONTINUE}${OK}`, 'ok'], 'ok'],
  ['at the start of a body', [OK.replace(': 2', ': 25'), CONTINUE], CONTINUE],
])('skips 100 Continue %s, and nothing else', async (_, pieces, body) => {
  const answering = (socket: Socket): void => {
    // The second call shares the connection.
    socket.on('data', () => {
      for (const [index, piece] of pieces.entries()) {
        setTimeout(() => socket.write(piece), 30 * index);
      }
    });
  };
  await withTarget(answering, async (url) => {
    for (let times = 0; times < 2; times += 1) {
      const answer = await post(url);
      expect(answer).toMatchObject({ status: 200, responseBody: body, truncated: false });
    }
  });
});

it.each<[what: string, interim: string, start?: string]>([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['long interim answers', `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['headers', 'a:\r\n'.repeat(100), 'HTTP/1.1 200 OK\r\n'],
  ['a header', 'x'.repeat(1_000), 'HTTP/1.1 200 OK\r\nX: '],
  ['empty lines', '\r\n'.repeat(500)],
])('gives up on a target that answers without end: %s', async (_, interim, start = '') => {
  let written = 0;
  const answering = (socket: Socket): void => {
    socket.once('data', () => {
      socket.write(start);
      writeEndlessly(socket, interim, () => (written += interim.length));
    });
  };
  await withTarget(answering, async (url) => {
    expect(await post(url)).toMatchObject({ error: 'protocol' });
    // Far more than socket buffers hold, far less than a second would bring.
    expect(written).toBeLessThan(16 << 20);
  });
});

it('gives up on endless trailers, and still has the answer', async () => {
  const answering = (socket: Socket): void => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n');
      writeEndlessly(socket, 'a:\r\n'.repeat(1_000));
    });
  };
  await withTarget(answering, async (url) => {
    const answer = await post(url);
    expect(answer).toMatchObject({ status: 200, responseBody: 'ok', truncated: true });
  });
});

it('keeps the start of a body that comes in one-byte chunks', async () => {
  const answering = (socket: Socket): void => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n`);
      socket.write('1\r\nx\r\n'.repeat(5_000));
    });
  };
  await withTarget(answering, async (url) => {
    const answer = await post(url);
    expect(answer).toMatchObject({ responseBody: 'x'.repeat(4_096), truncated: true });
  });
});

it('accepts an answer that came in time, even if the process was busy past the timeout', async () => {
  // The target needs a thread of its own, because the client's thread is blocked.
  const target = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:http').createServer((_, response) => {
       parentPort.postMessage('asked');
       setTimeout(() => response.end('ok'), 200);
     }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  try {
    const [port] = (await once(target, 'message')) as [number];
    const asked = once(target, 'message');
    const answering = post(`http://127.0.0.1:${String(port)}/`, 1_000);
    await asked;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    expect(await answering).toMatchObject({ status: 200, responseBody: 'ok' });
  } finally {
    await target.terminate();
  }
});

it.each<[what: string, scheme: string, answer: string]>([
  ['accepts a connection and is silent', 'http', ''],
  ['never answers in TLS', 'https', ''],
  ['sends the start of a head', 'http', 'HTTP/1.1 200 OK\r\n'],
  ['sends an interim answer only', 'http', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])('waits until the timeout, and no longer, for a target that %s', async (_, scheme, answer) => {
  await withTarget(
    (socket) => socket.once('data', () => socket.write(answer)),
    async (url) => {
      const { error, durationMs } = await post(url.replace('http', scheme), 1_000);
      expect(error).toBe('timeout');
      expect(durationMs).toBeGreaterThan(990);
      expect(durationMs).toBeLessThan(3_000);
    },
  );
});

describe('a host name', () => {
  let dns: DnsServer;

  beforeEach(async () => {
    dns = await startDnsServer(({ type, name }) => {
      if (name.startsWith('late') && type === 'A') {
        const asked = dns.asked.filter((question) => question === `A ${name}`).length;
        return asked < 4 ? 'silence' : ['127.0.0.1'];
      }
      if (name.startsWith('silent')) return 'silence';
      if (name.startsWith('slow-v6') && type === 'AAAA') return 'silence';
      if (name.startsWith('unknown')) return [];
      if (name.startsWith('many')) {
        return type === 'A' ? Array.from({ length: 30 }, (_, n) => `127.0.0.${n + 1}`) : [];
      }
      if (type === 'A' && name.startsWith('slow-v4')) return { late: ['127.0.0.1'] };
      if (type === 'AAAA' && name.startsWith('both')) return ['fd00::1'];
      if (type === 'AAAA') return name.startsWith('slow-v4.') ? ['::1'] : [];
      return name.startsWith('hidden') ? ['127.0.0.1', '10.0.0.1'] : ['127.0.0.1'];
    });
    client.resolver.dns.setServers([dns.address]);
  });
  afterEach(() => dns.close());

  const at = (name: string) => receiver.url.replace('127.0.0.1', name);

  it.each([
    ['one.test', { status: 200, address: '127.0.0.1' }],
    ['slow-v6.test', { status: 200, address: '127.0.0.1' }],
    // Nothing listens on the other address, which comes first.
    ['slow-v4.test', { status: 200, address: '127.0.0.1' }],
    ['slow-v4-only.test', { status: 200, address: '127.0.0.1' }],
    ['unknown.test', { error: 'dns' }],
    ['hidden.test', { error: 'blocked', address: '10.0.0.1' }],
    ['both.test', { error: 'blocked', address: 'fd00::1' }],
    ['localhost', { status: 200, address: '127.0.0.1' }],
  ])('resolves: %s to %j', async (name, expected) => {
    const start = performance.now();
    expect(await post(at(name))).toMatchObject(expected);
    // A silent name server is given up after 6 s.
    expect(performance.now() - start).toBeLessThan(4_000);
  });

  it('with silent name servers delays no other call, however many there are', async () => {
    const silent = Array.from({ length: 40 }, (_, n) => post(at(`silent-${n}.test`), 1_500));
    await eventually(
      () => dns.asked.length,
      (asked) => asked >= 80,
    );
    const start = performance.now();
    expect(await post(at('one.test'))).toMatchObject({ status: 200 });
    expect(performance.now() - start).toBeLessThan(1_000);
    // The timeout applies even before there is a connection.
    for (const answer of await Promise.all(silent)) {
      expect(answer.error).toBe('timeout');
      expect(answer.durationMs).toBeLessThan(3_000);
    }
  });

  it('is resolved once for many concurrent calls', async () => {
    await Promise.all(Array.from({ length: 20 }, () => post(at('one.test'))));
    expect(dns.asked.toSorted()).toEqual(['A one.test', 'AAAA one.test']);
  });

  it('with many addresses is called at one of the first sixteen', async () => {
    expect(await post(at('many.test'))).toMatchObject({ status: 200, address: '127.0.0.1' });
    expect(await client.resolver.resolve('many.test')).toHaveLength(16);
  });

  it('with silent name servers fails as a DNS error', async () => {
    client.resolver.dns = new Resolver({ timeout: 100, tries: 1 });
    client.resolver.dns.setServers([dns.address]);
    expect(await post(at('silent.test'))).toMatchObject({ error: 'dns' });
  });

  it('is asked for again while its name servers are silent and the call has time', async () => {
    client.resolver.dns = new Resolver({ timeout: 100, tries: 1 });
    client.resolver.dns.setServers([dns.address]);
    expect(await post(at('late.test'))).toMatchObject({ status: 200, address: '127.0.0.1' });
  });
});
