import { LRUCache } from '#libs/kernel';
import {
  ATTEMPTS_PENDING_MS,
  FAILURE_WINDOW_MS,
  type LoginCounter,
  LoginFailures,
  type LoginOutcome,
} from './login-failures.js';

/** Counters to keep, in about 20 MB. Hashing is too slow for more failures in a window. */
const REMEMBERED = 50_000;

interface Count {
  attempts: number;
  failures: number;
  /** The end of the window, as `performance.now()`. */
  until: number;
}

/** Counts the failed logins of this process only. */
export class LocalLoginFailures extends LoginFailures {
  private readonly counts = new LRUCache<string, Count>({ max: REMEMBERED });

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
