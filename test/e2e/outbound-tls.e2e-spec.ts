import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureVersion, TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { untrusted } from '../faults/harness/untrusted-certificate.js';
import { certificate } from '../support/certificate.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { startWorker } from '../support/processes.js';
import type { Environment } from '../support/environment.js';
import type { ServiceProcess } from '../support/service-process.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' };

let demo: DemoAccount;
let directory: string;
/** The environment of workers that disables every TLS check that an environment can disable. */
let careless: Environment;
let worker: ServiceProcess;
let server: Server | undefined;
/** The names that clients asked the server for. */
let names: (string | false)[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchhook-test-'));
  const authority = join(directory, 'authority.pem');
  await writeFile(authority, certificate.cert);
  demo = await startDemoAccount(LOOPBACK);
  // The user may see the addresses that names resolve to.
  await demo.database.query(`UPDATE users SET role = 'platform' WHERE id = $1`, [demo.id]);
  careless = {
    ...LOOPBACK,
    DATABASE_URL: demo.database.url,
    NODE_EXTRA_CA_CERTS: authority,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_OPTIONS: '--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0',
  };
  worker = await startWorker(careless);
});
afterAll(async () => {
  await worker.stop();
  await demo.stop();
  await rm(directory, { recursive: true });
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Options of a server that speaks only this version. */
function only(version?: SecureVersion) {
  if (version === undefined) return {};
  return { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
}

/** @returns its port */
async function startTarget(
  identity = certificate,
  version?: SecureVersion,
  options: TlsOptions = {},
): Promise<number> {
  names = [];
  const all = { ...identity, ...only(version), ...options };
  server = createServer(all, ({ headers }, response) => {
    response.setHeader('connection', 'close').end(headers.host);
  });
  server.on('secureConnection', ({ servername }) => names.push(servername ?? false));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends a test of a new subscription. @returns the path of its delivery */
async function startTest(targetUrl: string): Promise<string> {
  const webhook = await demo.aSubscription({ targetUrl });
  const test = await demo.client.post(`${webhook}/test`);
  return new URL(test.headers.location ?? '').pathname;
}

/** The only attempt of such a test. */
async function attemptOf(path: string): Promise<Schemas['Attempt']> {
  const delivery = await eventually(
    () => demo.shown(path),
    ({ state }) => state !== 'pending',
  );
  expect(delivery).toMatchObject({ attempts: 1 });
  return (delivery['attemptLog'] as Schemas['Attempt'][])[0]!;
}

const attemptAt = async (targetUrl: string) => attemptOf(await startTest(targetUrl));

const linesOf = (process: ServiceProcess, text: string): string[] =>
  process
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

const REFUSED: [
  what: string,
  host: string,
  identity: typeof certificate,
  version: SecureVersion | undefined,
  detail: string,
][] = [
  ['is for another name', '127.0.0.1', certificate, undefined, 'name'],
  ['no trusted authority signed', 'localhost', untrusted, undefined, 'untrusted'],
  ['is presented over TLS 1.1', 'localhost', certificate, 'TLSv1.1', 'protocol'],
];

it('delivers to a target with a certificate for its name', async () => {
  const port = await startTarget();
  const attempt = await attemptAt(`https://localhost:${port}/`);
  const responseBody = `localhost:${port}`;
  expect(attempt).toMatchObject({ status: 200, responseBody, address: '127.0.0.1' });
  const aTime = expect.any(Number) as number;
  expect(attempt.phases).toMatchObject({ dns: aTime, connect: aTime, tls: aTime });
  expect(names).toEqual(['localhost']);
});

it.each(REFUSED)('refuses a certificate that %s, whatever the environment says', async (...row) => {
  const [, host, identity, version, detail] = row;
  const port = await startTarget(identity, version);
  const path = await startTest(`https://${host}:${port}/`);
  const attempt = await attemptOf(path);
  expect(attempt).toMatchObject({ error: 'tls', detail, address: '127.0.0.1' });
  expect(await demo.shown(path)).toMatchObject({ lastAttempt: { error: 'tls', detail } });
  expect(attempt).not.toHaveProperty('status');
});

it('names the target in TLS without the trailing dot of its URL', async () => {
  const port = await startTarget();
  const url = `https://localhost.:${port}/`;
  const attempt = await attemptAt(url);
  expect(attempt).toMatchObject({ status: 200, responseBody: `localhost.:${port}` });
  expect(attempt.request).toMatchObject({ url });
  expect(names).toEqual(['localhost']);
});

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'shows as tls that a target wants a certificate of the client, over %s',
  async (version) => {
    const port = await startTarget(certificate, version, { requestCert: true });
    const attempt = await attemptAt(`https://localhost:${port}/`);
    expect(attempt).toMatchObject({ error: 'tls', address: '127.0.0.1' });
  },
);

it('delivers over TLS 1.2', async () => {
  const port = await startTarget(certificate, 'TLSv1.2');
  expect(await attemptAt(`https://localhost:${port}/`)).toMatchObject({ status: 200 });
});

it('retries once when the target closes a kept-alive connection', async () => {
  const seen = new WeakSet<object>();
  let calls = 0;
  server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, ({ socket }, response) => {
    calls += 1;
    if (seen.has(socket)) socket.destroy();
    else response.end('ok');
    seen.add(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const targetUrl = `https://localhost:${(server.address() as AddressInfo).port}/`;
  expect(await attemptAt(targetUrl)).toMatchObject({ status: 200 });
  expect(await attemptAt(targetUrl)).toMatchObject({ status: 200, responseBody: 'ok' });
  expect(calls).toBe(3);
});

describe('through a proxy', () => {
  let proxy: ConnectProxy;
  let behindProxy: ServiceProcess;

  beforeAll(async () => {
    await worker.stop();
    proxy = await startConnectProxy(certificate);
    const DELIVERY_PROXY_URL = proxy.url.replace('https://', 'https://user:hidden@');
    behindProxy = await startWorker({ ...careless, DELIVERY_PROXY_URL, LOG_LEVEL: 'debug' });
  });
  afterAll(async () => {
    await behindProxy.stop();
    await proxy.close();
  });

  it('speaks TLS with the target inside TLS with the proxy', async () => {
    const port = await startTarget();
    const attempt = await attemptAt(`https://localhost:${port}/`);
    expect(attempt).toMatchObject({ status: 200, address: '127.0.0.1' });
    const authorization = `Basic ${btoa('user:hidden')}`;
    expect(proxy.asked).toMatchObject([{ authority: `127.0.0.1:${port}`, authorization }]);
    expect(names).toEqual(['localhost']);
    expect(await attemptAt(`https://127.0.0.1:${port}/`)).toMatchObject({ error: 'tls' });
  });

  it('says of an attempt that the proxy refused it', async () => {
    const target = `https://localhost:${await startTarget()}/`;
    proxy.answering = () => 403;
    expect(await attemptAt(target)).toMatchObject({ error: 'refused', detail: 'proxy' });
    proxy.answering = () => 504;
    expect(await attemptAt(target)).toMatchObject({ error: 'timeout', detail: 'proxy' });
    proxy.answering = () => 'connect';
  });

  it('waits for a proxy that refuses, logs it once without its password, and once that it is back', async () => {
    const loggedLines = (what: string) => linesOf(behindProxy, `the egress proxy is ${what}`);
    const target = `https://localhost:${await startTarget()}/`;
    proxy.answering = () => 407;
    const asked = proxy.asked.length;
    const waiting = await startTest(target);
    await eventually(
      () => proxy.asked.length,
      (now) => now >= asked + 2,
    );
    expect(loggedLines('away')).toHaveLength(1);
    expect(loggedLines('away')[0]).toContain('answers 407');
    proxy.answering = () => 'connect';
    expect(await attemptOf(waiting)).toMatchObject({ status: 200 });
    await eventually(
      async () => {
        expect(await attemptAt(target)).toMatchObject({ status: 200 });
        return loggedLines('back');
      },
      ({ length }) => length === 1,
    );
    expect(behindProxy.output()).not.toContain('hidden');
  });
});

it.each(REFUSED)(
  'sends nothing to a proxy with a certificate that %s, whatever the environment says',
  async (...row) => {
    const [, host, identity, version] = row;
    const proxy = await startConnectProxy({ ...identity, ...only(version) });
    const DELIVERY_PROXY_URL = proxy.url.replace('localhost', host);
    const behindProxy = await startWorker({ ...careless, DELIVERY_PROXY_URL });
    try {
      const path = await startTest(`https://localhost:${await startTarget()}/`);
      await eventually(() => linesOf(behindProxy, 'the egress proxy is away').length > 0);
      expect(await demo.shown(path)).toMatchObject({ state: 'pending', attempts: 0 });
      expect(proxy.asked).toEqual([]);
      expect(names).toEqual([]);
    } finally {
      await behindProxy.stop();
      await proxy.close();
    }
  },
);
