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

/** Where the target is, and not the proxy. */
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
  await use(proxy.url.replace('http://', 'http://us%C3%A9r:p%40ss@'));
});
afterEach(async () => {
  await client.close();
  await dns.close();
  await proxy.close();
  await receiver.close();
});

/** Calls targets through another proxy. */
async function use(url: string): Promise<void> {
  await (client as TestTargetClient | undefined)?.close();
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8', DELIVERY_PROXY_URL: url });
  client.resolver.dns.setServers([dns.address]);
}

const port = (): string => new URL(receiver.url).port;

it('is asked for the judged address, with its login, and the target is not told of it', async () => {
  const answer = await client.post(`http://target.test:${port()}/hook`);
  expect(answer).toMatchObject({ status: 200, address: ADDRESS });
  const authority = `${ADDRESS}:${port()}`;
  const authorization = `Basic ${Buffer.from('usér:p@ss').toString('base64')}`;
  expect(proxy.asked).toEqual([{ authority, host: authority, authorization }]);
  const [{ headers, path } = { headers: undefined, path: '' }] = receiver.received;
  expect([path, headers?.host]).toEqual(['/hook', `target.test:${port()}`]);
  expect(headers).not.toHaveProperty('proxy-authorization');
});

it('is not asked again for a connection that is kept', async () => {
  for (let times = 0; times < 6; times += 1) await client.post(receiver.url);
  expect(receiver.received).toHaveLength(6);
  // The second call may come before the first one's connection is free.
  expect(proxy.asked.length).toBeLessThanOrEqual(2);
});

it('is not asked for what may not be called', async () => {
  expect(await client.post('http://10.0.0.1/')).toMatchObject({
    error: 'blocked',
    address: '10.0.0.1',
  });
  expect(proxy.asked).toEqual([]);
});

it('carries TLS with the target, under its name', async () => {
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
    // Nobody trusts the certificate of the server.
    expect(await client.post(url)).toMatchObject({ error: 'tls', address: ADDRESS });
    expect(names).toEqual(['target.test']);
    expect(proxy.asked).toHaveLength(1);
  } finally {
    server.close();
  }
});

it.each([
  [403, 'refused'],
  [407, 'refused'],
  [500, 'refused'],
  [502, 'refused'],
  [503, 'refused'],
  [504, 'timeout'],
] as const)('that answers %d makes the attempt fail as %s', async (status, error) => {
  proxy.answering = () => status;
  const answer = await client.post(receiver.url);
  expect(answer).toMatchObject({ error, address: ADDRESS });
  expect(answer).not.toHaveProperty('status');
  expect(answer).not.toHaveProperty('responseBody');
  expect(proxy.asked).toHaveLength(1);
  expect(receiver.received).toEqual([]);
});

it('that is away makes the attempt fail, and is not passed by', async () => {
  await use(`http://127.0.0.1:${await freePort()}`);
  expect(await client.post(receiver.url)).toMatchObject({ error: 'refused', address: ADDRESS });
  expect(receiver.received).toEqual([]);
});

it('that is not whom its certificate names is not spoken to', async () => {
  const secure = await startConnectProxy(certificate);
  await use(secure.url);
  try {
    expect(await client.post(receiver.url)).toMatchObject({ error: 'refused', address: ADDRESS });
    expect(secure.asked).toEqual([]);
    expect(receiver.received).toEqual([]);
  } finally {
    await secure.close();
  }
});

it('that does not answer lets the deadline stand', async () => {
  proxy.answering = () => 'silence';
  const answer = await client.post(receiver.url, 1_000);
  expect(answer).toMatchObject({ error: 'timeout' });
  expect(answer.durationMs).toBeLessThan(3_000);
  expect(receiver.received).toEqual([]);
  // Nor does the connection outlive it.
  await eventually(
    () => proxy.open(),
    (open) => open === 0,
  );
});

it('is asked for the next address when it cannot reach one', async () => {
  proxy.answering = ({ authority }) => (authority.startsWith(ADDRESS) ? 'connect' : 502);
  const target = `http://two.test:${port()}/`;
  expect(await client.post(target)).toMatchObject({ status: 200, address: ADDRESS });
  expect(proxy.asked.map(({ authority }) => authority)).toEqual([
    `127.0.0.4:${port()}`,
    `${ADDRESS}:${port()}`,
  ]);
});

it('is not asked for the next address when it forbids one', async () => {
  proxy.answering = () => 403;
  const target = `http://two.test:${port()}/`;
  expect(await client.post(target)).toMatchObject({ error: 'refused', address: '127.0.0.4' });
  expect(proxy.asked).toHaveLength(1);
});
