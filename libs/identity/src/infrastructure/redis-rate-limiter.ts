import { Injectable } from '@nestjs/common';
import { type RateLimit, RedisLimits } from '#libs/kernel';
import { LocalRateLimiter } from '../domain/local-rate-limiter.js';
import { type Allowance, RateLimiter } from '../domain/rate-limiter.js';

/**
 * ARGV: quota, ms of the window. The key holds when the bucket is full again, in µs of Redis' own
 * clock, and is gone by then. Whole numbers throughout: the time as such leaves a double no digits.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = math.floor(ARGV[2] * 1000 / ARGV[1])
local full = interval * ARGV[1]
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local room = full - (full_at - now)
local allowed = 0
if room >= interval then
  allowed = 1
  full_at = full_at + interval
  room = room - interval
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
end
local remaining = math.floor(room / interval)
return { allowed, remaining, math.ceil((interval * (remaining + 1) - room) / 1000) }
`;

/** Requests of accounts as all processes have seen them; with Redis away each counts alone. */
@Injectable()
export class RedisRateLimiter extends RateLimiter {
  private readonly alone = new LocalRateLimiter();

  constructor(private readonly redis: RedisLimits) {
    super();
  }

  override async take(accountId: string, limit: RateLimit): Promise<Allowance> {
    const { quota, windowMs } = limit;
    const answer = await this.redis.run(TAKE, `switchhook:rate:${accountId}`, [quota, windowMs]);
    if (answer === undefined) return this.alone.take(accountId, limit);
    const [allowed, remaining, nextMs] = answer as [number, number, number];
    // Counted here as well, so that a Redis that comes and goes gives nobody a second quota.
    if (allowed === 1) await this.alone.take(accountId, limit);
    return { allowed: allowed === 1, remaining, nextMs };
  }
}
