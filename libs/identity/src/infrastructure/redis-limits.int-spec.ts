import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addressGroup } from '#libs/kernel';
import { type Log, readConfig, RedisLimits } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { loginFailuresContract } from '../domain/login-failures.contract.js';
import { addressCounter, pairCounter } from '../domain/login-failures.js';
import { rateLimiterContract } from '../domain/rate-limiter.contract.js';
import { RedisLoginFailures } from './redis-login-failures.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { testRedisUrl } from '../../../../test/support/environment.js';
import { proxyTo, type TcpProxy } from '../../../../test/support/tcp-proxy.js';

const PATIENT_MS = 20_000;
const FIFTEEN_MINUTES_MS = 15 * 60_000;
const FIVE_AN_HOUR = { quota: 5, windowMs: 3_600_000 };

/** Long enough for a busy machine, in tests that are not about waiting. */
class PatientLimits extends RedisLimits {
  override waitMs = PATIENT_MS;
}

let redis: Redis;
let proxy: TcpProxy;
let limits: PatientLimits;

beforeAll(async () => {
  redis = new Redis(testRedisUrl().toString());
  await deleteKeys();
  proxy = await proxyTo(testRedisUrl().toString());
  limits = await connected(proxy.address);
});
afterAll(async () => {
  limits.onApplicationShutdown();
  await proxy.close();
  await deleteKeys();
  redis.disconnect();
});

async function deleteKeys(): Promise<void> {
  const keys = await redis.keys('switchhook:*');
  if (keys.length > 0) await redis.del(keys);
}

function limitsOn(address: string, log = {} as Log): PatientLimits {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: address });
  return new PatientLimits(config, log);
}

async function connected(address: string): Promise<PatientLimits> {
  const made = limitsOn(address);
  await reachable(made);
  return made;
}

function reachable(made: RedisLimits): Promise<unknown> {
  return eventually(
    () => made.run('return 1', 'switchhook:reachable', []),
    (answer) => answer === 1,
  );
}

async function advance(key: string, ms: number): Promise<void> {
  const left = await redis.pttl(key);
  await redis.pexpire(key, left - ms);
}

describe('failed logins in Redis', () => {
  loginFailuresContract({
    failures: () => new RedisLoginFailures(limits),
    pass: (login, ms) => advance(`switchhook:login:${login}`, ms),
  });

  it('leave no key without an expiry, and none for an undecided login', async () => {
    await deleteKeys();
    const failures = new RedisLoginFailures(limits);
    const [failed, undecided] = [pairCounter('demo', '192.0.2.1'), addressCounter('192.0.2.2')];
    for (const login of [failed, undecided]) await failures.begin(login);
    failures.end(undecided, 'undecided');
    failures.end(failed, 'failed');
    const keys = await eventually(
      () => redis.keys('switchhook:login:*'),
      ({ length }) => length === 1,
    );
    const left = await redis.pttl(keys[0]!);
    expect(left).toBeGreaterThan(FIFTEEN_MINUTES_MS - 30_000);
    expect(left).toBeLessThanOrEqual(FIFTEEN_MINUTES_MS);
  });

  it('use the key that the documentation tells operators to delete', () => {
    const page = readFileSync(
      new URL('../../../../docs/operating/users.md', import.meta.url),
      'utf8',
    );
    const [recipe = ''] = /^ {4}login=\$\(.*\)$/m.exec(page) ?? [];
    expect(recipe).toContain(' 192.0.2.7)');
    expect(page).toContain('\n    redis-cli del "switchhook:login:$login"\n');
    for (const address of ['192.0.2.7', addressGroup('2001:db8::7')]) {
      const script = `${recipe.replace('192.0.2.7', address)}\nprintf %s "$login"`;
      const key = execFileSync('sh', ['-c', script]).toString();
      expect(key).toBe(addressCounter(address).key);
    }
    expect(page).toContain(`\`${addressGroup('2001:db8::7')}\``);
  });

  it('reveal neither the username nor the address', async () => {
    await deleteKeys();
    const failures = new RedisLoginFailures(limits);
    await failures.begin(pairCounter('telling-name', '192.0.2.77'));
    await failures.begin(addressCounter('192.0.2.77'));
    const keys = await redis.keys('*');
    expect(keys.filter((key) => key.startsWith('switchhook:login:'))).toHaveLength(2);
    expect(keys.join()).not.toMatch(/telling-name|192\.0\.2\.77/);
  });
});

describe('rates in Redis', () => {
  const processes: RedisRateLimiter[] = [];
  let next = 0;
  beforeAll(() => {
    for (let made = 0; made < 3; made += 1) processes.push(new RedisRateLimiter(limits));
  });

  rateLimiterContract({
    limiter: () => processes[(next += 1) % processes.length]!,
    pass: async (accountId, ms) => {
      const key = `switchhook:rate:${accountId}`;
      await redis.set(key, Number(await redis.get(key)) - ms * 1_000, 'KEEPTTL');
      await advance(key, ms);
    },
  });

  it('expire as soon as the bucket is full again', async () => {
    await new RedisRateLimiter(limits).consume('kept', FIVE_AN_HOUR);
    const left = await redis.pttl('switchhook:rate:kept');
    expect(left).toBeGreaterThan(FIVE_AN_HOUR.windowMs / 5 - 30_000);
    expect(left).toBeLessThanOrEqual(FIVE_AN_HOUR.windowMs / 5);
  });
});

it('count in each process, and log that once, if Redis refuses scripts', async () => {
  const user = 'switchhook-limits';
  await redis.call('ACL', 'SETUSER', user, 'on', '>password', '~*', '+@all', '-eval');
  const address = Object.assign(testRedisUrl(), { username: user, password: 'password' });
  const warn = vi.fn<Log['warn']>();
  const refused = limitsOn(address.toString(), { warn } as unknown as Log);
  await eventually(
    async () => {
      await new RedisRateLimiter(refused).consume('refused', FIVE_AN_HOUR);
      return warn.mock.calls.length;
    },
    (count) => count > 0,
  );
  const limiter = new RedisRateLimiter(refused);
  for (let remaining = 4; remaining >= 0; remaining -= 1) {
    const allowance = await limiter.consume('refused', FIVE_AN_HOUR);
    expect(allowance).toMatchObject({ allowed: true, remaining });
  }
  expect(await limiter.consume('refused', FIVE_AN_HOUR)).toMatchObject({ allowed: false });
  const err = expect.objectContaining({
    message: expect.stringContaining('NOPERM') as unknown,
  }) as unknown;
  const use = 'rates and login failures of all processes';
  expect(warn.mock.calls).toEqual([[{ use, err }, 'Redis refuses a command']]);
  refused.onApplicationShutdown();
  await redis.call('ACL', 'DELUSER', user);
});

describe.each<[how: string, cut: () => void]>([
  ['away', () => proxy.down()],
  ['silent', () => proxy.freeze()],
])('with Redis %s', (how, cut) => {
  it('each process counts alone without waiting, and they count together again once Redis is back', async () => {
    const [one, other] = await Promise.all([connected(proxy.address), connected(proxy.address)]);
    const takes = [new RedisRateLimiter(one), new RedisRateLimiter(other)];
    const account = `while-${how}`;
    for (const limiter of takes) await limiter.consume(account, FIVE_AN_HOUR);
    expect(await takes[0]!.consume(account, FIVE_AN_HOUR)).toMatchObject({ remaining: 2 });
    cut();
    for (const made of [one, other]) made.waitMs = 250;
    const start = performance.now();
    // Each process knows what it granted itself.
    for (const [index, limiter] of takes.entries()) {
      for (let remaining = 2 + index; remaining >= 0; remaining -= 1) {
        const allowance = await limiter.consume(account, FIVE_AN_HOUR);
        expect(allowance).toMatchObject({ allowed: true, remaining });
      }
      expect(await limiter.consume(account, FIVE_AN_HOUR)).toMatchObject({ allowed: false });
    }
    // Each process waits a quarter of a second at most, once.
    expect(performance.now() - start).toBeLessThan(2_000);
    for (const made of [one, other]) made.waitMs = PATIENT_MS;
    proxy.down();
    proxy.up();
    await Promise.all([reachable(one), reachable(other)]);
    expect(await takes[1]!.consume(account, FIVE_AN_HOUR)).toMatchObject({ remaining: 1 });
    for (const made of [one, other]) made.onApplicationShutdown();
  });

  it('a process still knows the failed logins that it saw before', async () => {
    const made = await connected(proxy.address);
    const failures = new RedisLoginFailures(made);
    const login = { key: `while-${how}`, allowed: 10 };
    for (let time = 0; time < 10; time += 1) {
      expect(await failures.begin(login)).toBe(0);
      failures.end(login, 'failed');
    }
    cut();
    made.waitMs = 250;
    const wait = await failures.begin(login);
    proxy.down();
    proxy.up();
    made.onApplicationShutdown();
    expect(wait).toBeGreaterThan(FIFTEEN_MINUTES_MS - 30_000);
  });
});
