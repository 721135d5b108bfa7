import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RateLimitedError, UnavailableError } from '#libs/kernel';
import { readConfig } from '#libs/runtime';
import { testRedisUrl } from '../../../../../test/support/environment.js';
import { proxyTo, type TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { listenersKey } from '../../activity/infrastructure/activity-log.scripts.js';
import type { Follower } from '../domain/activity-log.js';
import { RedisActivityLog } from './redis-activity-log.js';

const SIGN_OF_LIFE_MS = 10_000;

let redis: Redis;
let proxy: TcpProxy;
let log: RedisActivityLog;

beforeEach(async () => {
  redis = new Redis(testRedisUrl().toString());
  await redis.flushdb();
  proxy = await proxyTo(testRedisUrl().toString());
  log = new RedisActivityLog(
    readConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: proxy.address }),
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
  Promise.all(Array.from({ length: 5 }, () => log.follow('1', undefined, openRequest())));
const listeners = () => redis.zrange(listenersKey('1'), 0, -1);

it('leaves nothing of a refused follower, which would take a place later', async () => {
  const followers = await five();
  await expect(log.follow('1', undefined, openRequest())).rejects.toThrow(RateLimitedError);
  expect(vi.getTimerCount()).toBe(5);
  for (const follower of followers) follower.close();
  await vi.waitFor(async () => expect(await listeners()).toEqual([]));
  expect(vi.getTimerCount()).toBe(0);
});

it('closes a follower whose place was given to another, after Redis lost it', async () => {
  const [first] = (await five()) as [Follower, ...Follower[]];
  const before = await listeners();
  await redis.del(listenersKey('1'));
  await five();
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS);
  await vi.waitFor(async () => expect(await first.next()).toBeUndefined());
  expect(await listeners()).not.toEqual(expect.arrayContaining(before));
});

it('keeps one connection for commands, however often it was asked while Redis was away', async () => {
  proxy.down();
  for (let n = 0; n < 3; n += 1) {
    await expect(log.follow('1', undefined, openRequest())).rejects.toThrow(UnavailableError);
  }
  expect(vi.getTimerCount()).toBe(0);
  proxy.up();
  await vi.waitFor(() => log.follow('1', undefined, openRequest()), {
    timeout: 10_000,
    interval: 100,
  });
  // The one for commands, and the one that waits for entries.
  await vi.waitFor(() => expect(proxy.clients()).toBe(2));
});

it.each([
  ['before it began', 0],
  ['while it began', 100],
])('gives back the place of a follower whose request ended %s', async (_, afterMs) => {
  const request = new AbortController();
  if (afterMs === 0) request.abort();
  else setTimeout(() => request.abort(), afterMs);
  const follower = await log.follow('1', undefined, request.signal);
  expect(await follower.next()).toBeUndefined();
  await vi.waitFor(async () => expect(await listeners()).toEqual([]));
  expect(vi.getTimerCount()).toBe(0);
});
