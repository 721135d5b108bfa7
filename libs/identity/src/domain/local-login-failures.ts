import { Recent } from '#libs/kernel';
import {
  ATTEMPTS_PENDING_MS,
  FAILURE_WINDOW_MS,
  FAILURES_ALLOWED,
  LoginFailures,
  type LoginOutcome,
} from './login-failures.js';

/** Or twice as many: more than fail in a window, as each attempt costs a computation of the hash. Some 20 MB. */
const REMEMBERED = 50_000;

interface Count {
  attempts: number;
  failures: number;
  /** End of the window, as `performance.now()`. */
  until: number;
}

/** Failed logins as this process alone has seen them. */
export class LocalLoginFailures extends LoginFailures {
  private readonly counts = new Recent<string, Count>(REMEMBERED);

  override begin(login: string): Promise<number> {
    const count = this.current(login);
    if (count.attempts < FAILURES_ALLOWED) {
      count.attempts += 1;
      return Promise.resolve(0);
    }
    const isDecided = count.failures >= FAILURES_ALLOWED;
    return Promise.resolve(isDecided ? count.until - performance.now() : ATTEMPTS_PENDING_MS);
  }

  override end(login: string, outcome: LoginOutcome): void {
    const count = this.counts.get(login);
    if (!count) return;
    if (outcome === 'failed') count.failures += 1;
    if (outcome === 'undecided') count.attempts -= 1;
    if (outcome === 'succeeded' || count.attempts === 0) this.counts.delete(login);
  }

  private current(login: string): Count {
    const now = performance.now();
    const known = this.counts.get(login);
    if (known && known.until > now) return known;
    const count = { attempts: 0, failures: 0, until: now + FAILURE_WINDOW_MS };
    this.counts.set(login, count);
    return count;
  }
}
