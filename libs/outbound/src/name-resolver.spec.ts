import dns from 'node:dns/promises';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NameResolver } from './name-resolver.js';

/** `/etc/resolv.conf`; undefined if it cannot be read. */
let file: string | undefined;
let reads: number;
const read = (): string => {
  reads += 1;
  if (file === undefined) throw new Error('EMFILE');
  return file;
};
/** Like c-ares, it knows the file as it was when it was made, and answers with its server. */
class FakeResolver {
  readonly options: unknown;
  private readonly servers = (file ?? '').match(/[\d.]+/g) ?? [];
  constructor(options: unknown) {
    this.options = options;
  }
  getServers = () => this.servers;
  resolve4 = () => answering(() => this.servers);
  resolve6 = () => answering(() => []);
  resolveNs = () => answering(() => [], knowsRoot);
}

/** The code with which queries fail, and whether the servers of the root are still told; undefined if they succeed. */
let failure: string | undefined;
let knowsRoot: boolean;

function answering(answer: () => string[], isAnswered = failure === undefined): Promise<string[]> {
  if (isAnswered) return Promise.resolve(answer());
  return Promise.reject(Object.assign(new Error('x'), { code: failure }));
}
const { Resolver } = dns;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  file = 'nameserver 192.0.2.1';
  reads = 0;
  failure = undefined;
  knowsRoot = false;
  vi.spyOn(fs, 'readFileSync').mockImplementation(read);
  vi.spyOn(promises, 'readFile').mockImplementation(async (path) => {
    await Promise.resolve();
    return path === '/etc/hosts' ? '' : read();
  });
  Object.assign(dns, { Resolver: FakeResolver });
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.assign(dns, { Resolver });
  syncBuiltinESMExports();
});

const serversOf = async (resolver: NameResolver) =>
  (await resolver.resolve('target.example')).map(({ address }) => address);

it('asks the name servers of a changed resolv.conf, after five seconds at the latest', async () => {
  const resolver = new NameResolver();
  expect(await serversOf(resolver)).toEqual(['192.0.2.1']);
  file = 'nameserver 192.0.2.2\nnameserver 192.0.2.3';
  vi.advanceTimersByTime(4_999);
  expect(await serversOf(resolver)).toEqual(['192.0.2.1']);
  vi.advanceTimersByTime(1);
  expect(await serversOf(resolver)).toEqual(['192.0.2.2', '192.0.2.3']);
  // One try for each of several servers.
  expect(resolver.dns).toMatchObject({ options: { tries: 1 } });
});

it('keeps its resolver while resolv.conf is the same, or cannot be read', async () => {
  const resolver = new NameResolver();
  const before = resolver.dns;
  for (const text of ['nameserver 192.0.2.1', undefined, 'nameserver 192.0.2.1']) {
    file = text;
    vi.advanceTimersByTime(5_000);
    expect(await serversOf(resolver)).toEqual(['192.0.2.1']);
  }
  expect(resolver.dns).toBe(before);
});

it('reads resolv.conf at most once in five seconds', async () => {
  const resolver = new NameResolver();
  for (let second = 0; second < 20; second += 1) {
    vi.advanceTimersByTime(1_000);
    await serversOf(resolver);
  }
  expect(reads).toBe(1 + 4);
});

it.each(['ETIMEOUT', 'ECONNREFUSED'])(
  'is our own fault if no name server answers: %s',
  async (code) => {
    failure = code;
    const name = new NameResolver().resolve('target.example');
    await expect(name).rejects.toMatchObject({ fault: 'resolver' });
  },
);

it('is the fault of a name if its servers are silent, and others answer', async () => {
  failure = 'ETIMEOUT';
  knowsRoot = true;
  const name = new NameResolver().resolve('target.example');
  await expect(name).rejects.toMatchObject({ code: 'EUNRESOLVED' });
});

it.each(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED'])(
  'is the fault of a name if a name server answers %s',
  async (code) => {
    failure = code;
    const name = new NameResolver().resolve('target.example');
    await expect(name).rejects.toMatchObject({ code: 'EUNRESOLVED' });
  },
);
