import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { bundlePrograms } from '#tools/sources';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import type { Environment } from '../support/environment.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const SCRIPT = 'test/support/out-of-descriptors.main';
const BUNDLED = join(ROOT, 'dist/tests');
const DESCRIPTORS = 512;

let dns: DnsServer;
let proxy: ConnectProxy;
let receiver: Receiver;

beforeAll(() => bundlePrograms([SCRIPT], BUNDLED));
beforeEach(async () => {
  receiver = await startReceiver();
  proxy = await startConnectProxy();
  dns = await startDnsServer(({ type, name }) => {
    if (type === 'AAAA' || name.startsWith('unknown')) return [];
    return name.startsWith('two') ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1'];
  });
});
afterEach(async () => {
  await dns.close();
  await proxy.close();
  await receiver.close();
});

/** The outcomes of calls of hosts without any file descriptor, and afterwards. */
async function outcomesAt(
  hosts: string[],
  environment: Environment = {},
): Promise<{ short: unknown[]; enough: unknown[] }> {
  const urls = hosts.map((host) => receiver.url.replace('127.0.0.1', host));
  const limited = `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', limited, process.execPath, join(BUNDLED, `${SCRIPT}.js`), dns.address, ...urls],
    {
      env: {
        ...{
          DATABASE_URL: 'postgres://unused',
          DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
          ...environment,
        },
        PATH: process.env['PATH'],
      },
    },
  );
  return JSON.parse(stdout) as { short: unknown[]; enough: unknown[] };
}

const SHORTAGE = 'OwnFaultError';

it('a process without file descriptors says so, instead of blaming the target', async () => {
  const hosts = ['127.0.0.1', 'one.test', 'two.test', 'unknown.test', 'localhost'];
  expect(await outcomesAt(hosts)).toEqual({
    short: [SHORTAGE, SHORTAGE, SHORTAGE, SHORTAGE, SHORTAGE],
    enough: [200, 200, 200, 'dns', 200],
  });
});

it.each(['127.0.0.1', 'localhost'])('the same behind a proxy at %s', async (host) => {
  const url = proxy.url.replace('127.0.0.1', host);
  expect(await outcomesAt(['127.0.0.1'], { DELIVERY_PROXY_URL: url })).toEqual({
    short: [SHORTAGE],
    enough: [200],
  });
});
