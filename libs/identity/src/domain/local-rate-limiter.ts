import { LRUCache } from '#libs/kernel';
import { type Allowance, type RateLimit, RateLimiter } from './rate-limiter.js';

/** Those that asked for something lately; one that is dropped has a full bucket. Some 10 MB. */
const REMEMBERED = 50_000;

/** Requests of accounts as this process alone has seen them. */
export class LocalRateLimiter extends RateLimiter {
  /** When the bucket of an account is full again, in µs of `performance.now()`. */
  private readonly fullAt = new LRUCache<string, number>({ max: REMEMBERED });

  /** @param count requests that are allowed together, or not at all */
  override take(of: string, { quota, windowMs }: RateLimit, count = 1): Promise<Allowance> {
    const now = Math.floor(performance.now() * 1_000);
    const interval = Math.floor((windowMs * 1_000) / quota);
    const fullAt = Math.max(this.fullAt.get(of) ?? 0, now);
    let room = interval * quota - (fullAt - now);
    const allowed = room >= count * interval;
    if (allowed) {
      room -= count * interval;
      this.fullAt.set(of, fullAt + count * interval);
    }
    const remaining = Math.floor(room / interval);
    const nextMs = Math.ceil((interval * (remaining + 1) - room) / 1_000);
    return Promise.resolve({ allowed, remaining, nextMs });
  }
}
