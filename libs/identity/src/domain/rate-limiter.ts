import { LRUCache } from '#libs/kernel';

/** An account's rate limit: `quota` requests in `windowMs`. */
export interface RateLimit {
  quota: number;
  windowMs: number;
}

/** The decision about one request. */
export interface Allowance {
  allowed: boolean;
  /** Requests that are still allowed now. */
  remaining: number;
  /** ms until one more is allowed. */
  nextMs: number;
}

/** Limits requests with token buckets, which hold `quota` tokens and refill evenly within `windowMs`. */
export abstract class RateLimiter {
  /** @param key the account, with the route if that has its own limit */
  abstract consume(key: string, limit: RateLimit): Promise<Allowance>;
}

/** About 10 MB. An evicted account starts with a full bucket. */
const MAX_CACHED = 50_000;

/** Counts the requests of this process only. */
export class LocalRateLimiter extends RateLimiter {
  /** When each bucket is full again, in µs of `performance.now()`. */
  private readonly fullAt = new LRUCache<string, number>({ max: MAX_CACHED });

  /** @param count requests that are allowed or refused together */
  override consume(key: string, { quota, windowMs }: RateLimit, count = 1): Promise<Allowance> {
    const now = Math.floor(performance.now() * 1_000);
    const interval = Math.floor((windowMs * 1_000) / quota);
    const fullAt = Math.max(this.fullAt.get(key) ?? 0, now);
    let room = interval * quota - (fullAt - now);
    const allowed = room >= count * interval;
    if (allowed) {
      room -= count * interval;
      this.fullAt.set(key, fullAt + count * interval);
    }
    const remaining = Math.floor(room / interval);
    const nextMs = Math.ceil((interval * (remaining + 1) - room) / 1_000);
    return Promise.resolve({ allowed, remaining, nextMs });
  }
}
