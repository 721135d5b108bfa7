import type { Response } from 'express';
import { expect, it, vi } from 'vitest';
import type { Config, Database, RedisHealth } from '#libs/runtime';
import { HealthController, Shutdown } from './health.module.js';

it('probes the stores once for concurrent requests', async () => {
  const readiness = { readyWithoutRedis: true, behindProxy: false };
  const run = vi.fn(() => Promise.resolve([]));
  const ping = vi.fn(() => Promise.reject(new Error('away')));
  const health = new HealthController(
    { run } as unknown as Database,
    { ping } as unknown as RedisHealth,
    new Shutdown(readiness, {} as Config),
    readiness,
  );
  const response = { status: () => response, setHeader: () => response } as unknown as Response;
  const asked = Array.from({ length: 100 }, () => health.ready(response));
  const up = { status: 'up', postgres: 'up', redis: 'down' };
  expect(await Promise.all(asked)).toEqual(Array(100).fill(up));
  expect([run.mock.calls.length, ping.mock.calls.length]).toEqual([1, 1]);
  await health.ready(response);
  expect([run.mock.calls.length, ping.mock.calls.length]).toEqual([2, 2]);
});
