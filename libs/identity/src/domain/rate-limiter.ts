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
  /** @param of the account, with the route if that has its own limit */
  abstract take(of: string, limit: RateLimit): Promise<Allowance>;
}
