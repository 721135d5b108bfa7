import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';
import { RedisLimits } from '#libs/runtime';
import {
  type Allowance,
  LocalRateLimiter,
  type RateLimit,
  RateLimiter,
} from '../domain/rate-limiter.js';

/** A process takes 1/BATCHES of a quota at once, so that large quotas need few calls to Redis. */
const BATCHES = 1_000;
const MAX_CACHED = 10_000;

/**
 * ARGV: quota, window in ms, number wanted. The key contains the time when the bucket is full again, in µs of
 * Redis' clock, and expires then. All numbers are integers: a time in µs uses all digits of a double.
 */
const CONSUME = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = math.floor(ARGV[2] * 1000 / ARGV[1])
local full = interval * ARGV[1]
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local room = full - (full_at - now)
local taken = math.min(math.floor(room / interval), tonumber(ARGV[3]))
if taken > 0 then
  full_at = full_at + taken * interval
  room = room - taken * interval
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
end
local remaining = math.floor(room / interval)
return { taken, remaining, math.ceil((interval * (remaining + 1) - room) / 1000) }
`;

/** Requests that were taken for an account in advance. */
interface Batch extends Omit<Allowance, 'allowed'> {
  left: number;
  /** The current refill and the number it adds. */
  refill?: Promise<number>;
}

/** Counts the requests of all processes; without Redis, each process counts its own. */
@Injectable()
export class RedisRateLimiter implements RateLimiter {
  private readonly local = new LocalRateLimiter();
  private readonly batches = new LRUCache<string, Batch>({ max: MAX_CACHED });

  constructor(private readonly redis: RedisLimits) {}

  async consume(key: string, limit: RateLimit): Promise<Allowance> {
    const wanted = Math.floor(limit.quota / BATCHES);
    const batch = this.batchFor(key, wanted > 1);
    while (batch.left === 0) {
      batch.refill ??= this.refill(batch, key, limit, Math.max(wanted, 1)).finally(() => {
        delete batch.refill;
      });
      const isRefused = (await batch.refill) === 0;
      if (isRefused) return { allowed: false, remaining: batch.remaining, nextMs: batch.nextMs };
    }
    batch.left -= 1;
    return { allowed: true, remaining: batch.remaining + batch.left, nextMs: batch.nextMs };
  }

  /** Small quotas are taken one by one. */
  private batchFor(key: string, isShared: boolean): Batch {
    const known = isShared ? this.batches.get(key) : undefined;
    if (known) return known;
    const batch: Batch = { left: 0, remaining: 0, nextMs: 0 };
    if (isShared) this.batches.set(key, batch);
    return batch;
  }

  private async refill(
    batch: Batch,
    key: string,
    limit: RateLimit,
    wanted: number,
  ): Promise<number> {
    const { quota, windowMs } = limit;
    const values = [quota, windowMs, wanted];
    const answer = await this.redis.run(CONSUME, `switchhook:rate:${key}`, values);
    if (answer === undefined) {
      const { allowed, ...allowance } = await this.local.consume(key, limit);
      Object.assign(batch, { ...allowance, left: Number(allowed) });
      return batch.left;
    }
    const [taken, remaining, nextMs] = answer as [number, number, number];
    // Also counted locally, so that an outage of Redis does not give an account a second quota.
    await this.local.consume(key, limit, taken);
    Object.assign(batch, { left: taken, remaining, nextMs });
    return taken;
  }
}
