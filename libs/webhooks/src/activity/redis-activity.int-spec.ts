import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Log, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { testRedisUrl } from '../../../../test/support/environment.js';
import { proxyTo, type TcpProxy } from '../../../../test/support/tcp-proxy.js';
import {
  ACCOUNTS_KEY,
  CACHED_MS,
  LISTEN,
  listenersKey,
  logKey,
  RedisActivity,
} from './redis-activity.js';

let redis: Redis;
let proxy: TcpProxy;
let activity: RedisActivity;
/** What it has sent to Redis. */
let sent: string;

beforeAll(() => {
  redis = new Redis(testRedisUrl().toString());
});
afterAll(() => {
  redis.disconnect();
});
beforeEach(async () => {
  await redis.flushdb();
  sent = '';
  proxy = await proxyTo(testRedisUrl().toString(), (bytes) => {
    sent += bytes.toString('latin1');
  });
  activity = new RedisActivity(
    readConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: proxy.address }),
    {} as Log,
  );
});
afterEach(async () => {
  await activity.onApplicationShutdown();
  await proxy.close();
});

const listen = (accountId: string) =>
  redis.eval(
    LISTEN,
    3,
    ...[ACCOUNTS_KEY, listenersKey(accountId), logKey(accountId), accountId, 'listener', 5, 30_000],
  );

const entriesOf = async (accountId: string) =>
  (await redis.xrange(logKey(accountId), '-', '+')).map(([id, [, entry]]) => [
    Number(id.split('-')[1]),
    entry,
  ]);

const cacheExpires = () => new Promise((resolve) => setTimeout(resolve, CACHED_MS + 50));

it('writes numbered changes of accounts with a listener, and none of other accounts', async () => {
  await listen('1');
  activity.report('1', { kind: 'webhook', id: '7' });
  activity.report('2', { kind: 'webhook', id: '8' });
  activity.report('1', { kind: 'attempt', id: 'a', number: 3 });
  await eventually(async () => (await entriesOf('1')).length === 3);
  expect(await entriesOf('1')).toEqual([
    [1, 'opened'],
    [2, 'webhook 7'],
    [3, 'attempt a 3'],
  ]);
  expect(await redis.exists(logKey('2'))).toBe(0);
});

it('asks for listeners only after a change, and at most four times a second', async () => {
  const asked = () => sent.split(ACCOUNTS_KEY).length - 1;
  activity.report('1', { kind: 'webhook', id: '7' });
  await eventually(() => asked() === 1);
  await cacheExpires();
  await cacheExpires();
  expect(asked()).toBe(1);
  for (let n = 0; n < 1_000; n += 1) {
    activity.report('1', { kind: 'webhook', id: '7' });
    if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(asked()).toBeGreaterThan(1);
  expect(asked()).toBeLessThan(6);
});

it('tells listeners that they may have missed something while Redis was away', async () => {
  await listen('1');
  activity.report('1', { kind: 'webhook', id: '1' });
  await eventually(async () => (await entriesOf('1')).length === 2);
  proxy.down();
  await cacheExpires();
  activity.report('1', { kind: 'webhook', id: '2' });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  proxy.up();
  await eventually(async () => {
    activity.report('1', { kind: 'webhook', id: '3' });
    return (await entriesOf('1')).some(([, entry]) => entry === 'webhook 3');
  });
  expect((await entriesOf('1')).map(([, entry]) => entry).slice(0, 4)).toEqual([
    'opened',
    'webhook 1',
    'interrupted',
    'webhook 3',
  ]);
});
