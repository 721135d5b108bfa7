import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboundPolicy } from '#libs/outbound';
import { readConfig } from '#libs/runtime';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { type Answers, type DnsServer, startDnsServer } from '../support/dns-server.js';
import type { Environment } from '../support/environment.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';
import { PUBLIC_HOSTS, REFUSED_HOSTS } from '../support/targets.js';

const policy = (environment: Environment = {}) =>
  new OutboundPolicy(readConfig({ DATABASE_URL: 'postgres://unused', ...environment }));
const kinds = Object.entries(REFUSED_HOSTS);
const urlOf = (host: string): string => `http://${host}/`;
/** An address as it is written in the authority of a URL. */
const inAuthority = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('configured networks', () => {
  const callable = (address: string, allowed: string, denied = ''): boolean =>
    policy({
      DELIVERY_ALLOWED_NETWORKS: allowed,
      DELIVERY_DENIED_NETWORKS: denied,
    }).allowsAddress(address);

  it('are refused when they are denied, even if they are also allowed', () => {
    expect(callable('10.1.2.3', '10.0.0.0/8')).toBe(true);
    expect(callable('10.1.2.3', '10.0.0.0/8', '10.1.0.0/16')).toBe(false);
    expect(callable('10.1.2.3', '10.1.2.3', '10.0.0.0/8')).toBe(false);
    expect(callable('8.8.8.8', '', '8.8.8.0/24')).toBe(false);
    expect(callable('2606:4700::1', '', '2606:4700::/32')).toBe(false);
  });

  it('apply to IPv4 addresses inside IPv6 ones', () => {
    expect(callable('::ffff:10.1.2.3', '10.0.0.0/8')).toBe(true);
    expect(callable('::ffff:10.1.2.3', '10.0.0.0/8', '10.1.0.0/16')).toBe(false);
    // In networks with NAT64, DNS64 makes such addresses of public ones.
    expect(callable('64:ff9b::8.8.8.8', '64:ff9b::/96')).toBe(true);
    for (const carrier of ['64:ff9b::', '64:ff9b:1::', '::', '::ffff:0:', '2606:4700::5efe:']) {
      expect(callable(`${carrier}a01:203`, '::/0')).toBe(false);
      expect(callable(`${carrier}a01:203`, '::/0,10.0.0.0/8')).toBe(true);
      expect(callable(`${carrier}a01:203`, '::/0,10.0.0.0/8', '10.0.0.0/8')).toBe(false);
      expect(callable(`${carrier}a01:203`, '10.0.0.0/8')).toBe(false);
    }
    expect(callable('2002:a01:203::1', '2002::/16')).toBe(false);
    expect(callable('2002:808:808::1', '2002::/16')).toBe(true);
  });

  it('allow ::1 and :: only when they contain these addresses themselves', () => {
    expect(callable('::1', '::1')).toBe(true);
    expect(callable('::', '::/0')).toBe(true);
    expect(callable('::1', '127.0.0.0/8,0.0.0.0/8')).toBe(false);
  });
});

describe('when a worker connects', () => {
  let client: TestTargetClient;
  let dns: DnsServer | undefined;
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await client.close();
    await dns?.close();
    dns = undefined;
    await receiver.close();
  });

  async function start(environment: Environment, answers?: Answers): Promise<void> {
    client = aTargetClient(environment);
    dns = await startDnsServer(answers ?? (() => []));
    client.resolver.dns.setServers([dns.address]);
  }

  describe('through a proxy that records its requests', () => {
    let proxy: ConnectProxy;

    beforeEach(async () => {
      proxy = await startConnectProxy();
      proxy.answering = () => 403;
      await start({ DELIVERY_PROXY_URL: proxy.url }, ({ type, name }) =>
        type === 'A' && name.endsWith('localhost') ? ['127.0.0.1'] : [],
      );
    });
    afterEach(() => proxy.close());

    it.each(kinds)('%s: the proxy is not asked for it', async (_kind, hosts) => {
      const passed: string[] = [];
      for (const host of hosts) {
        const { error, address } = await client.post(urlOf(host));
        if (error !== 'blocked' || address === undefined) passed.push(host);
      }
      expect(passed).toEqual([]);
      expect(proxy.asked).toEqual([]);
    });

    it('public addresses are dialled in one form', async () => {
      for (const [host, address] of PUBLIC_HOSTS) {
        expect(await client.post(urlOf(host))).toMatchObject({ error: 'refused', address });
        expect(proxy.asked.pop()?.authority).toBe(`${inAuthority(address)}:80`);
      }
    });
  });

  it('a name server that changes its answer is not asked again', async () => {
    let asked = 0;
    const answers: Answers = ({ type }) => {
      if (type === 'AAAA') return [];
      asked += 1;
      return [asked === 1 ? '127.0.0.1' : '127.0.0.2'];
    };
    await start({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.1' }, answers);
    const port = Number(new URL(receiver.url).port);
    let reached = 0;
    const inside = createServer((socket) => {
      reached += 1;
      socket.destroy();
    }).listen(port, '127.0.0.2');
    await once(inside, 'listening');
    try {
      receiver.answering = (_, response) => response.setHeader('connection', 'close').end();
      const target = `http://rebinding.test:${port}/`;
      expect(await client.post(target)).toMatchObject({ status: 200, address: '127.0.0.1' });
      expect(asked).toBe(1);
      // The next connection resolves the name again and checks the new address.
      expect(await client.post(target)).toMatchObject({ error: 'blocked', address: '127.0.0.2' });
      expect(reached).toBe(0);
      expect(receiver.received).toHaveLength(1);
    } finally {
      inside.close();
    }
  });

  it.each([
    ['10.0.0.1', ['127.0.0.1', '10.0.0.1'], []],
    ['10.0.0.1', ['10.0.0.1', '127.0.0.1'], []],
    ['::ffff:10.0.0.1', ['127.0.0.1'], ['::ffff:10.0.0.1']],
    ['64:ff9b::7f00:1', ['127.0.0.1'], ['64:ff9b::7f00:1']],
    ['::1', ['127.0.0.1'], ['::1']],
  ] as const)('one refused address, %s, refuses the name', async (refused, ipv4, ipv6) => {
    await start({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.1' }, ({ type }) =>
      type === 'A' ? ipv4 : ipv6,
    );
    const answer = await client.post(receiver.url.replace('127.0.0.1', 'mixed.test'));
    expect(answer).toMatchObject({ error: 'blocked', address: refused });
    expect(receiver.received).toEqual([]);
  });

  it.each(['intranet', 'a.localhost', 'metadata.google.internal', '127.0.0.1.nip.io'])(
    'the name %s is checked by its address',
    async (name) => {
      await start({}, ({ type }) => (type === 'A' ? ['127.0.0.1'] : []));
      const answer = await client.post(receiver.url.replace('127.0.0.1', name));
      expect(answer).toMatchObject({ error: 'blocked', address: '127.0.0.1' });
    },
  );

  it('a network that was denied since is refused', async () => {
    await start({
      DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
      DELIVERY_DENIED_NETWORKS: '127.0.0.1',
    });
    expect(await client.post(receiver.url)).toMatchObject({
      error: 'blocked',
      address: '127.0.0.1',
    });
    expect(receiver.received).toEqual([]);
  });

  it('ports of other services are refused', async () => {
    await start({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.1' }, ({ type }) =>
      type === 'A' ? ['127.0.0.1'] : [],
    );
    const address = '127.0.0.1';
    expect(await client.post('http://127.0.0.1:25/')).toMatchObject({ error: 'blocked', address });
    const named = await client.post('http://named.test:25/');
    expect([named.error, named.address]).toEqual(['blocked', undefined]);
    expect(dns?.asked).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])(
    'a %d redirect to another address is not followed',
    async (status) => {
      await start({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.1,127.0.0.2' });
      const other = await startReceiver(undefined, '127.0.0.2');
      try {
        for (const location of [other.url, 'http://169.254.169.254/latest/meta-data/']) {
          receiver.answering = (_, response) => response.writeHead(status, { location }).end();
          expect(await client.post(receiver.url)).toMatchObject({ status, address: '127.0.0.1' });
        }
        expect(receiver.received).toHaveLength(2);
        expect(other.received).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );
});
