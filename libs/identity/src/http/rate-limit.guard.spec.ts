import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { InFlight } from '#libs/http';
import { type Config, readConfig } from '#libs/runtime';
import { LocalRateLimiter } from '../domain/rate-limiter.js';
import { LimitedTo, RateLimitGuard } from './rate-limit.guard.js';

// The time is frozen, so that no bucket refills.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

class Routes {
  any(): void {
    // A route with the general limit only.
  }

  @LimitedTo({ quota: 3, windowMs: 60_000, what: 'test' })
  test(): void {
    // A route with its own limit.
  }
}

function aGuard(config: Config) {
  const guard = new RateLimitGuard(
    config,
    new LocalRateLimiter(),
    new InFlight(config),
    new Reflector(),
  );
  const request = { principal: { userId: '1', role: 'account' } };
  const response = { setHeader: () => undefined, once: () => undefined };
  // eslint-disable-next-line @typescript-eslint/unbound-method -- only what is written on it is read
  const context = (handler = Routes.prototype.any) =>
    new ExecutionContextHost([request, response], Routes, handler);
  return { guard, context };
}

it('limits a route separately from all others', async () => {
  const { guard, context } = aGuard(readConfig({ DATABASE_URL: 'postgres://unused' }));
  // eslint-disable-next-line @typescript-eslint/unbound-method -- as above
  const test = context(Routes.prototype.test);
  for (let left = 3; left > 0; left -= 1) expect(await guard.canActivate(test)).toBe(true);
  const says = 'The account may make 3 tests in 60 seconds.';
  await expect(guard.canActivate(test)).rejects.toThrow(says);
  expect(await guard.canActivate(context())).toBe(true);
});

it.each([
  ['1/s', 'The account may make 1 request in 1 second.'],
  ['5/s', 'The account may make 5 requests in 1 second.'],
  ['1/m', 'The account may make 1 request in 60 seconds.'],
  ['5/h', 'The account may make 5 requests in 3600 seconds.'],
])('refuses requests beyond %s with the message: %s', async (RATE_LIMIT, says) => {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', RATE_LIMIT });
  const { guard, context } = aGuard(config);
  for (let left = config.RATE_LIMIT.quota; left > 0; left -= 1) {
    expect(await guard.canActivate(context())).toBe(true);
  }
  await expect(guard.canActivate(context())).rejects.toThrow(says);
});
