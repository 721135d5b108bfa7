import { UnavailableError } from '#libs/kernel';
import { isTransient, isUnavailable } from '../database/database-errors.js';
import type { Log } from '../logging/log.js';
import { isRedisUnavailable } from '../redis/redis-errors.js';

/** How often a task that keeps failing is logged. */
const REPEAT_MS = 60_000;

/** Reports a task's runs: with a metric, and with log lines when it starts failing and when it recovers. */
export class TaskReport {
  private readonly loggedAt = { warn: -Infinity, error: -Infinity };
  private failures = 0;
  private logged = false;

  /** @param setLastSuccess sets the metric to the current time */
  constructor(
    private readonly task: string,
    private readonly log: Log,
    private readonly setLastSuccess: () => void,
  ) {}

  succeeded(): void {
    this.setLastSuccess();
    // A task that fails now and then is logged once a minute, not twice for each failure.
    if (this.logged) this.log.info({ task: this.task }, 'background task works again');
    this.failures = 0;
    this.logged = false;
  }

  failed(error: unknown): void {
    const { task } = this;
    const level = isTemporary(error) ? 'warn' : 'error';
    this.failures += 1;
    const now = performance.now();
    if (now - this.loggedAt[level] < REPEAT_MS) return;
    this.loggedAt[level] = now;
    this.logged = true;
    this.log[level]({ err: error, task, failures: this.failures }, 'background task failed');
  }
}

/** Whether a store was unavailable or a lock was taken, so that the task itself is not at fault. */
function isTemporary(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    isUnavailable(error) ||
    isTransient(error) ||
    isRedisUnavailable(error)
  );
}
