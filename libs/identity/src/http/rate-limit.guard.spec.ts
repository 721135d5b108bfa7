import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '#libs/kernel';
import { InFlight } from '#libs/kernel/http';
import { LocalRateLimiter } from '../domain/local-rate-limiter.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { Refusals } from './refusals.js';

// Time stands still: nothing is added to a bucket.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ['1/s', 'The account may make 1 request in 1 second.'],
  ['5/s', 'The account may make 5 requests in 1 second.'],
  ['1/m', 'The account may make 1 request in 60 seconds.'],
  ['5/h', 'The account may make 5 requests in 3600 seconds.'],
])('says of %s: %s', async (RATE_LIMIT, says) => {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', RATE_LIMIT });
  const guard = new RateLimitGuard(
    config,
    new LocalRateLimiter(),
    new InFlight(config),
    new Refusals(),
  );
  const request = { principal: { userId: '1', role: 'account' } };
  const context = new ExecutionContextHost([
    request,
    { setHeader: () => undefined, once: () => undefined },
  ]);
  for (let left = config.RATE_LIMIT.quota; left > 0; left -= 1) {
    expect(await guard.canActivate(context)).toBe(true);
  }
  await expect(guard.canActivate(context)).rejects.toThrow(says);
});
