import { createHash } from 'node:crypto';
import { LRUCache, RateLimitedError } from '#libs/kernel';

/** Failed logins allowed in a window, which begins with the first failure. */
const ALLOWED_OF_PAIR = 10;
const ALLOWED_OF_ADDRESS = 100;
/** More, because tokens cannot be guessed, and many browsers behind one address may send expired ones. */
const ALLOWED_TOKENS = 1_000;
export const FAILURE_WINDOW_MS = 15 * 60_000;
/** The time to wait while pending attempts, which may still succeed, use up the limit. */
export const ATTEMPTS_PENDING_MS = 1_000;

/** How a login ended; `undecided` if a store was unavailable or the service was overloaded. */
export type LoginOutcome = 'succeeded' | 'failed' | 'undecided';

/** A counter of failed logins. */
export interface LoginCounter {
  /** Reveals neither a username nor an address. */
  key: string;
  /** The number of failures allowed. */
  allowed: number;
}

/**
 * Counts failed logins. An attempt counts as failed from its start, so that concurrent ones cannot exceed the
 * limit.
 */
export abstract class LoginFailures {
  /** @returns 0 if the attempt may continue, after which the caller must call {@link end}; else ms to wait */
  abstract begin(counter: LoginCounter): Promise<number>;
  /** A success resets the failures before it (NIST SP 800-63B, section 5.2.2). */
  abstract end(counter: LoginCounter, outcome: LoginOutcome): void;

  /**
   * Makes an attempt that counts.
   * @param refusal the error message after too many failures
   * @param success what a success means to this counter
   * @param attempt undefined is a failure
   * @throws RateLimitedError after too many failures
   */
  async counted<Login>(
    counter: LoginCounter,
    refusal: string,
    success: 'succeeded' | 'undecided',
    attempt: () => Promise<Login | undefined>,
  ): Promise<Login | undefined> {
    const waitMs = await this.begin(counter);
    if (waitMs > 0) throw new RateLimitedError(refusal, waitMs);
    let outcome: LoginOutcome = 'undecided';
    try {
      const login = await attempt();
      outcome = login ? success : 'failed';
      return login;
    } finally {
      this.end(counter, outcome);
    }
  }
}

/** Counts failures with a username from an address. */
export function pairCounter(username: string, address: string): LoginCounter {
  const key = `${keyOf(username)}:${keyOf(`${address}\n${username}`)}`;
  return { key, allowed: ALLOWED_OF_PAIR };
}

/** Counts failures from an address with any username. */
export function addressCounter(address: string): LoginCounter {
  return { key: keyOf(address), allowed: ALLOWED_OF_ADDRESS };
}

/** Counts unknown session tokens from an address, separately from passwords. */
export function tokenCounter(address: string): LoginCounter {
  return { key: keyOf(`token\n${address}`), allowed: ALLOWED_TOKENS };
}

/** The key of a text, and the prefix of all keys of a username. */
export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** About 20 MB. Hashing is too slow for more failures in a window. */
const MAX_CACHED = 50_000;

interface Count {
  attempts: number;
  failures: number;
  /** The end of the window, as `performance.now()`. */
  until: number;
}

/** Counts the failed logins of this process only. */
export class LocalLoginFailures extends LoginFailures {
  private readonly counts = new LRUCache<string, Count>({ max: MAX_CACHED });

  override begin({ key, allowed }: LoginCounter): Promise<number> {
    const count = this.current(key);
    if (count.attempts < allowed) {
      count.attempts += 1;
      return Promise.resolve(0);
    }
    const isDecided = count.failures >= allowed;
    return Promise.resolve(isDecided ? count.until - performance.now() : ATTEMPTS_PENDING_MS);
  }

  override end({ key }: LoginCounter, outcome: LoginOutcome): void {
    const count = this.counts.get(key);
    if (!count) return;
    if (outcome === 'failed') count.failures += 1;
    if (outcome === 'undecided') count.attempts -= 1;
    if (outcome === 'succeeded' || count.attempts === 0) this.counts.delete(key);
  }

  private current(key: string): Count {
    const now = performance.now();
    const known = this.counts.get(key);
    if (known && known.until > now) return known;
    const count = { attempts: 0, failures: 0, until: now + FAILURE_WINDOW_MS };
    this.counts.set(key, count);
    return count;
  }
}
