import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';
import { RedisLimits } from '#libs/runtime';
import {
  type Allowance,
  LocalRateLimiter,
  type RateLimit,
  RateLimiter,
} from '../domain/rate-limiter.js';

/** A process takes 1/PARTS of a quota at once, so that large quotas need few calls to Redis. */
const PARTS = 1_000;
/** Accounts whose taken requests are kept. */
const MAX_CACHED = 10_000;

/**
 * ARGV: quota, window in ms, number wanted. The key contains the time when the bucket is full again, in µs of
 * Redis' clock, and expires then. All numbers are whole, because the time leaves no digits of a double for
 * fractions.
 */
const TAKE = `
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

/** Requests that were taken for an account, but not used yet. */
interface Stock extends Omit<Allowance, 'allowed'> {
  left: number;
  /** The current refill and the number it adds. */
  refill?: Promise<number>;
}

/** Counts the requests of all processes; without Redis, each process counts its own. */
@Injectable()
export class RedisRateLimiter extends RateLimiter {
  private readonly local = new LocalRateLimiter();
  private readonly stocks = new LRUCache<string, Stock>({ max: MAX_CACHED });

  constructor(private readonly redis: RedisLimits) {
    super();
  }

  override async take(of: string, limit: RateLimit): Promise<Allowance> {
    const wanted = Math.floor(limit.quota / PARTS);
    const stock = this.stockOf(of, wanted > 1);
    while (stock.left === 0) {
      stock.refill ??= this.refill(stock, of, limit, Math.max(wanted, 1)).finally(() => {
        delete stock.refill;
      });
      const isRefused = (await stock.refill) === 0;
      if (isRefused) return { allowed: false, remaining: stock.remaining, nextMs: stock.nextMs };
    }
    stock.left -= 1;
    return { allowed: true, remaining: stock.remaining + stock.left, nextMs: stock.nextMs };
  }

  /** Small quotas are taken one by one, without a stock, so that requests need not wait. */
  private stockOf(of: string, isShared: boolean): Stock {
    const known = isShared ? this.stocks.get(of) : undefined;
    if (known) return known;
    const stock: Stock = { left: 0, remaining: 0, nextMs: 0 };
    if (isShared) this.stocks.set(of, stock);
    return stock;
  }

  private async refill(
    stock: Stock,
    of: string,
    limit: RateLimit,
    wanted: number,
  ): Promise<number> {
    const { quota, windowMs } = limit;
    const values = [quota, windowMs, wanted];
    const answer = await this.redis.run(TAKE, `switchhook:rate:${of}`, values);
    if (answer === undefined) {
      const { allowed, ...allowance } = await this.local.take(of, limit);
      Object.assign(stock, { ...allowance, left: Number(allowed) });
      return stock.left;
    }
    const [taken, remaining, nextMs] = answer as [number, number, number];
    // Also counted locally, so that interruptions of Redis do not give an account a second quota.
    await this.local.take(of, limit, taken);
    Object.assign(stock, { left: taken, remaining, nextMs });
    return taken;
  }
}
