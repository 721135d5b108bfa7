import { type RateLimit, Recent } from '#libs/kernel';
import { type Allowance, RateLimiter } from './rate-limiter.js';

/** Those that asked for something lately, or twice as many; one that is dropped has a full bucket. Some 10 MB. */
const REMEMBERED = 50_000;

/** Requests of accounts as this process alone has seen them. */
export class LocalRateLimiter extends RateLimiter {
  /** When the bucket of an account is full again, in µs of `performance.now()`. */
  private readonly fullAt = new Recent<string, number>(REMEMBERED);

  override take(accountId: string, { quota, windowMs }: RateLimit): Promise<Allowance> {
    const now = Math.floor(performance.now() * 1_000);
    const interval = Math.floor((windowMs * 1_000) / quota);
    const fullAt = Math.max(this.fullAt.get(accountId) ?? 0, now);
    let room = interval * quota - (fullAt - now);
    const allowed = room >= interval;
    if (allowed) {
      room -= interval;
      this.fullAt.set(accountId, fullAt + interval);
    }
    const remaining = Math.floor(room / interval);
    const nextMs = Math.ceil((interval * (remaining + 1) - room) / 1_000);
    return Promise.resolve({ allowed, remaining, nextMs });
  }
}
