import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { certificate } from '../support/certificate.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

/** Where the target listens; the proxy listens elsewhere. */
const ADDRESS = '127.0.0.3';

let client: TestTargetClient;
let dns: DnsServer;
let proxy: ConnectProxy;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver(undefined, ADDRESS);
  proxy = await startConnectProxy();
  dns = await startDnsServer(({ type, name }) => {
    if (type === 'AAAA') return [];
    return name.startsWith('two') ? ['127.0.0.4', ADDRESS] : [ADDRESS];
  });
  await callThrough(proxy.url.replace('http://', 'http://us%C3%A9r:p%40ss@'));
});
afterEach(async () => {
  await client.close();
  await dns.close();
  await proxy.close();
  await receiver.close();
});

/** Calls targets through another proxy from now on. */
async function callThrough(url: string): Promise<void> {
  await (client as TestTargetClient | undefined)?.close();
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8', DELIVERY_PROXY_URL: url });
  client.resolver.dns.setServers([dns.address]);
}

const port = (): string => new URL(receiver.url).port;

it('the proxy gets the checked address and its login, and the target does not see the login', async () => {
  const answer = await client.post(`http://target.test:${port()}/hook`);
  expect(answer).toMatchObject({ status: 200, address: ADDRESS });
  const authority = `${ADDRESS}:${port()}`;
  const authorization = `Basic ${Buffer.from('usér:p@ss').toString('base64')}`;
  expect(proxy.asked).toEqual([{ authority, host: authority, authorization }]);
  const [{ headers, path } = { headers: undefined, path: '' }] = receiver.received;
  expect([path, headers?.host]).toEqual(['/hook', `target.test:${port()}`]);
  expect(headers).not.toHaveProperty('proxy-authorization');
});

it('the proxy is not asked again for a kept-alive connection', async () => {
  for (let times = 0; times < 6; times += 1) await client.post(receiver.url);
  expect(receiver.received).toHaveLength(6);
  // The second call may start before the first connection is free.
  expect(proxy.asked.length).toBeLessThanOrEqual(2);
});

it('the proxy is not asked to connect to a blocked address', async () => {
  expect(await client.post('http://10.0.0.1/')).toMatchObject({
    error: 'blocked',
    address: '10.0.0.1',
  });
  expect(proxy.asked).toEqual([]);
});

it("a call through the proxy speaks TLS with the target, under the target's name", async () => {
  const names: string[] = [];
  const server = createServer({
    ...certificate,
    SNICallback: (name, done) => {
      names.push(name);
      done(null);
    },
  }).on('tlsClientError', () => undefined);
  await once(server.listen(0, ADDRESS), 'listening');
  try {
    const url = `https://target.test:${(server.address() as AddressInfo).port}/`;
    // The server's certificate is not trusted.
    expect(await client.post(url)).toMatchObject({ error: 'tls', address: ADDRESS });
    expect(names).toEqual(['target.test']);
    expect(proxy.asked).toHaveLength(1);
  } finally {
    server.close();
  }
});

it.each([
  [403, 'refused'],
  [502, 'refused'],
  [503, 'refused'],
  [504, 'timeout'],
] as const)('a proxy that answers %d makes the attempt fail as %s', async (status, error) => {
  proxy.answering = () => status;
  const answer = await client.post(receiver.url);
  expect(answer).toMatchObject({ error, address: ADDRESS });
  expect(answer).not.toHaveProperty('status');
  expect(answer).not.toHaveProperty('responseBody');
  expect(proxy.asked).toHaveLength(1);
  expect(receiver.received).toEqual([]);
});

const OURS = { fault: 'proxy' };

it.each([400, 407, 429, 500])('a proxy that answers %d fails on our own side', async (status) => {
  proxy.answering = () => status;
  await expect(client.post(receiver.url)).rejects.toMatchObject(OURS);
  expect(receiver.received).toEqual([]);
});

it('a proxy that is down is our own fault, and the target is not called directly', async () => {
  await callThrough(`http://127.0.0.1:${await freePort()}`);
  await expect(client.post(receiver.url)).rejects.toMatchObject(OURS);
  expect(receiver.received).toEqual([]);
});

it('a proxy that accepts no connection in time is our own fault', async () => {
  // Nobody is at these addresses (RFC 5737), and the environment may refuse them at once.
  await callThrough('http://192.0.2.1:8080');
  const fault = expect.stringMatching(/^(?:proxy|network)$/) as string;
  await expect(client.post(receiver.url, 1_000)).rejects.toMatchObject({ fault });
});

it('a proxy whose certificate names another host is not used', async () => {
  const secure = await startConnectProxy(certificate);
  await callThrough(secure.url);
  try {
    await expect(client.post(receiver.url)).rejects.toMatchObject(OURS);
    expect(secure.asked).toEqual([]);
    expect(receiver.received).toEqual([]);
  } finally {
    await secure.close();
  }
});

it('a proxy that does not answer does not extend the timeout', async () => {
  proxy.answering = () => 'silence';
  const answer = await client.post(receiver.url, 1_000);
  expect(answer).toMatchObject({ error: 'timeout' });
  expect(answer.durationMs).toBeLessThan(3_000);
  expect(receiver.received).toEqual([]);
  // Nor does the connection outlive the timeout.
  await eventually(
    () => proxy.open(),
    (open) => open === 0,
  );
});

it('the proxy is asked for the next address when it cannot reach the first', async () => {
  proxy.answering = ({ authority }) => (authority.startsWith(ADDRESS) ? 'connect' : 502);
  const target = `http://two.test:${port()}/`;
  expect(await client.post(target)).toMatchObject({ status: 200, address: ADDRESS });
  expect(proxy.asked.map(({ authority }) => authority)).toEqual([
    `127.0.0.4:${port()}`,
    `${ADDRESS}:${port()}`,
  ]);
});

it('the proxy is not asked for the next address when it forbids the first', async () => {
  proxy.answering = () => 403;
  const target = `http://two.test:${port()}/`;
  expect(await client.post(target)).toMatchObject({ error: 'refused', address: '127.0.0.4' });
  expect(proxy.asked).toHaveLength(1);
});
