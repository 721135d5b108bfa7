import nodeDns from 'node:dns/promises';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { certificate } from '../support/certificate.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { type SlowListener, startSlowListener } from '../support/slow-listener.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

const SLOW = '127.0.0.11';
const NEXT_MS = 250;
/** More than a quarter of a second for each of several addresses, even on a busy machine. */
const TIMEOUT_MS = 8_000;

let client: TestTargetClient;
let dns: DnsServer;
let slow: SlowListener | undefined;
let servers: Server[];
/** The addresses of every name. */
let addresses: string[];

beforeEach(async () => {
  servers = [];
  addresses = [];
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' });
  dns = await startDnsServer(({ type }) =>
    addresses.filter((address) => address.includes(':') === (type === 'AAAA')),
  );
  client.resolver.dns.setServers([dns.address]);
});
afterEach(async () => {
  await client.close();
  await dns.close();
  await slow?.close();
  slow = undefined;
  for (const server of servers) server.close();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** The addresses of the proxy's own name. */
function resolveProxyTo(...found: string[]): void {
  const answer = found.map((address) => ({ address, family: 4 }));
  vi.spyOn(nodeDns, 'lookup').mockResolvedValue(answer as never);
  syncBuiltinESMExports();
}

/** Answers at an address and notes who connects. */
async function listen(address: string, port: number): Promise<{ connections: number }> {
  const seen = { connections: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfast'));
  }).listen(port, address);
  servers.push(server);
  await once(server, 'listening');
  return seen;
}

/** How many connections of this process are being opened. */
const opening = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'ConnectWrap').length;

/** Resolves when the call has tried this many addresses that have not answered yet. */
const tried = (count: number) => eventually(opening, (open) => open >= count);

const post = (port: number, timeoutMs = TIMEOUT_MS) =>
  client.post(`http://several.test:${port}/`, timeoutMs);

describe('a target with several addresses', () => {
  it('is reached at its first address after a second, though the second refuses', async () => {
    slow = await startSlowListener(SLOW);
    addresses = [SLOW, '127.0.0.12'];
    const answering = post(slow.port);
    await tried(1);
    const accepting = setTimeout(() => slow?.accept(), 2 * NEXT_MS);
    const answer = await answering;
    clearTimeout(accepting);
    expect(answer).toMatchObject({ status: 200, responseBody: 'slow', address: SLOW });
    expect(answer.phases.connect).toBeGreaterThan(2 * NEXT_MS);
  });

  it('is called at one address only, when several accept at the same time', async () => {
    slow = await startSlowListener('0.0.0.0');
    addresses = [SLOW, '127.0.0.12', '127.0.0.13'];
    const answering = post(slow.port);
    await tried(3);
    slow.accept();
    expect(await answering).toMatchObject({ status: 200, responseBody: 'slow' });
    expect(slow.answered()).toBe(1);
    expect(opening()).toBe(0);
  });

  it('is reached at the second address while the first has not answered', async () => {
    slow = await startSlowListener(SLOW);
    await listen('127.0.0.12', slow.port);
    addresses = [SLOW, '127.0.0.12'];
    const answer = await post(slow.port);
    expect(answer).toMatchObject({ status: 200, responseBody: 'fast', address: '127.0.0.12' });
    expect(answer.phases.connect).toBeGreaterThan(NEXT_MS - 5);
    // The other connection is given up.
    expect(opening()).toBe(0);
  });

  it('is called at the next address as soon as one refuses', async () => {
    const port = await freePort();
    const refusing = Array.from({ length: 12 }, (_, n) => `127.0.0.${n + 20}`);
    await listen('127.0.0.99', port);
    addresses = [...refusing, '127.0.0.99'];
    const answer = await post(port);
    expect(answer).toMatchObject({ status: 200, address: '127.0.0.99' });
    expect(answer.phases.connect).toBeLessThan(refusing.length * NEXT_MS);
  });

  it('is tried at one address only, if that accepts', async () => {
    const port = await freePort();
    const first = await listen('127.0.0.12', port);
    const second = await listen('127.0.0.13', port);
    addresses = ['127.0.0.12', '127.0.0.13'];
    await post(port);
    expect([first.connections, second.connections]).toEqual([1, 0]);
  });

  it('fails as refused, at its first address, when all refuse', async () => {
    addresses = ['127.0.0.12', '::1', '127.0.0.13'];
    const answer = await post(await freePort());
    expect(answer).toMatchObject({ error: 'refused', address: '127.0.0.12' });
    expect(answer.durationMs).toBeLessThan(TIMEOUT_MS);
  });

  it('fails by its timeout, and no earlier, when none answers', async () => {
    slow = await startSlowListener('0.0.0.0');
    addresses = [SLOW, '127.0.0.12'];
    const { error, durationMs } = await post(slow.port, 2_000);
    expect(error).toBe('timeout');
    expect(durationMs).toBeGreaterThan(1_990);
    await eventually(opening, (open) => open === 0);
  });

  it('alternates between IPv4 and IPv6', async () => {
    slow = await startSlowListener('0.0.0.0');
    await listen('::1', slow.port);
    addresses = [SLOW, '127.0.0.12', '127.0.0.13', '::1'];
    const answer = await post(slow.port);
    expect(answer).toMatchObject({ status: 200, address: '::1' });
    expect(answer.phases.connect).toBeLessThan(TIMEOUT_MS / 4);
  });

  it('is tried at six addresses at once at most', async () => {
    slow = await startSlowListener('0.0.0.0');
    addresses = Array.from({ length: 30 }, (_, n) => `127.0.1.${n + 1}`);
    const answering = post(slow.port, 4_000);
    const seen: number[] = [];
    // By their network, as other connections of this process may be opened meanwhile.
    const trying = () =>
      readFileSync('/proc/net/tcp', 'utf8').match(/ [0-9A-F]{2}01007F:[0-9A-F]{4} 02 /g)?.length;
    const watching = setInterval(() => seen.push(trying() ?? 0), 10);
    expect(await answering).toMatchObject({ error: 'timeout' });
    clearInterval(watching);
    // One look may count a connection that ends and the one that replaces it.
    const most = Math.max(...seen.map((count, at) => Math.min(count, seen[at + 1] ?? 0)));
    expect(most).toBe(6);
  });
});

describe('behind a proxy', () => {
  let proxy: ConnectProxy | undefined;
  afterEach(async () => {
    await proxy?.close();
    proxy = undefined;
  });

  async function callThrough(url: string): Promise<void> {
    await client.close();
    client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8', DELIVERY_PROXY_URL: url });
    client.resolver.dns.setServers([dns.address]);
  }

  it('the next address of a target is requested while the first is still being tried', async () => {
    proxy = await startConnectProxy();
    proxy.answering = ({ authority }) => (authority.startsWith(SLOW) ? 'silence' : 'connect');
    await callThrough(proxy.url);
    const port = await freePort();
    await listen('127.0.0.12', port);
    addresses = [SLOW, '127.0.0.12'];
    expect(await post(port)).toMatchObject({ status: 200, address: '127.0.0.12' });
    // Only the connection to the target is left, at both of its ends.
    await eventually(
      () => proxy!.open(),
      (open) => open === 2,
    );
  });

  it('a target of sixteen addresses, none of which the proxy reaches, causes no warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    proxy = await startConnectProxy();
    proxy.answering = () => 502;
    await callThrough(proxy.url);
    addresses = Array.from({ length: 16 }, (_, n) => `127.0.1.${n + 1}`);
    expect(await post(80)).toMatchObject({ error: 'refused', address: '127.0.1.1' });
    expect(proxy.asked).toHaveLength(16);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it("the addresses of the proxy itself have the call's timeout", async () => {
    slow = await startSlowListener(SLOW);
    resolveProxyTo(SLOW, '127.0.0.12');
    await callThrough(`http://proxy.test:${slow.port}`);
    addresses = ['127.0.0.1'];
    const start = performance.now();
    await expect(post(await freePort(), 2_000)).rejects.toMatchObject({ fault: 'proxy' });
    expect(performance.now() - start).toBeGreaterThan(1_990);
    await eventually(opening, (open) => open === 0);
  });

  it('the next address of the proxy is tried concurrently with the first', async () => {
    proxy = await startConnectProxy();
    const port = Number(new URL(proxy.url).port);
    slow = await startSlowListener(SLOW, port);
    resolveProxyTo(SLOW, '127.0.0.1');
    await callThrough(`http://proxy.test:${port}`);
    const targetPort = await freePort();
    await listen('127.0.0.12', targetPort);
    addresses = ['127.0.0.12'];
    expect(await post(targetPort)).toMatchObject({ status: 200, address: '127.0.0.12' });
    expect(opening()).toBe(0);
  });

  it('the proxy is named in TLS without the trailing dot of its URL', async () => {
    const names: string[] = [];
    const identity: TlsOptions & typeof certificate = {
      ...certificate,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    };
    proxy = await startConnectProxy(identity);
    resolveProxyTo('127.0.0.1');
    await callThrough(proxy.url.replace('localhost', 'proxy.test.'));
    // Its certificate is not trusted.
    await expect(client.post('http://127.0.0.1/')).rejects.toMatchObject({ fault: 'proxy' });
    expect(names).toEqual(['proxy.test']);
  });
});
