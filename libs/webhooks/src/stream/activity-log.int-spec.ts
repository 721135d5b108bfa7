import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RateLimitedError, UnavailableError } from '#libs/kernel';
import { type Log, readConfig } from '#libs/runtime';
import { testRedisUrl } from '../../../../test/support/environment.js';
import { proxyTo, type TcpProxy } from '../../../../test/support/tcp-proxy.js';
import { listenersKey } from '../activity/redis-activity.js';
import { type Listener, ActivityLog } from './activity-log.js';

const SIGN_OF_LIFE_MS = 10_000;

let redis: Redis;
let proxy: TcpProxy;
let log: ActivityLog;

beforeEach(async () => {
  redis = new Redis(testRedisUrl().toString());
  await redis.flushdb();
  proxy = await proxyTo(testRedisUrl().toString());
  log = new ActivityLog(
    readConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: proxy.address }),
    {} as Log,
  );
  // Signs of life come when a test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await log.beforeApplicationShutdown();
  await proxy.close();
  redis.disconnect();
});

const openRequest = () => new AbortController().signal;
const five = () =>
  Promise.all(Array.from({ length: 5 }, () => log.listen('1', undefined, openRequest())));
const registered = () => redis.zrange(listenersKey('1'), 0, -1);

it('forgets a refused listener, which would count later', async () => {
  const listeners = await five();
  await expect(log.listen('1', undefined, openRequest())).rejects.toThrow(RateLimitedError);
  expect(vi.getTimerCount()).toBe(5);
  for (const listener of listeners) listener.close();
  await vi.waitFor(async () => expect(await registered()).toEqual([]));
  expect(vi.getTimerCount()).toBe(0);
});

it('closes a listener that Redis lost, if another took its place', async () => {
  const [first] = (await five()) as [Listener, ...Listener[]];
  const before = await registered();
  await redis.del(listenersKey('1'));
  await five();
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS);
  await vi.waitFor(async () => expect(await first.next()).toBeUndefined());
  expect(await registered()).not.toEqual(expect.arrayContaining(before));
});

it('keeps one connection for commands, however often it was asked while Redis was away', async () => {
  proxy.down();
  for (let n = 0; n < 3; n += 1) {
    await expect(log.listen('1', undefined, openRequest())).rejects.toThrow(UnavailableError);
  }
  expect(vi.getTimerCount()).toBe(0);
  proxy.up();
  await vi.waitFor(() => log.listen('1', undefined, openRequest()), {
    timeout: 10_000,
    interval: 100,
  });
  // The one for commands, and the one that waits for entries.
  await vi.waitFor(() => expect(proxy.clients()).toBe(2));
});

it.each([
  ['before it began', 0],
  ['while it began', 100],
])('no longer counts a listener whose request ended %s', async (_, afterMs) => {
  const request = new AbortController();
  if (afterMs === 0) request.abort();
  else setTimeout(() => request.abort(), afterMs);
  const listener = await log.listen('1', undefined, request.signal);
  expect(await listener.next()).toBeUndefined();
  await vi.waitFor(async () => expect(await registered()).toEqual([]));
  expect(vi.getTimerCount()).toBe(0);
});
