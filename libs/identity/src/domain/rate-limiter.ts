/** What an account may ask: `quota` requests in `windowMs`. */
export interface RateLimit {
  quota: number;
  windowMs: number;
}

/** What came of asking for one more request. */
export interface Allowance {
  allowed: boolean;
  /** Requests that are allowed now, after this one. */
  remaining: number;
  /** In ms, until there is one more. */
  nextMs: number;
}

/**
 * Counts requests of accounts by a token bucket: it holds `quota` of them, and is filled evenly,
 * from empty to full in `windowMs`.
 */
export abstract class RateLimiter {
  /** @param of whose requests, and of which route where they are counted by themselves */
  abstract take(of: string, limit: RateLimit): Promise<Allowance>;
}
