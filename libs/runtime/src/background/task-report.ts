import { UnavailableError } from '#libs/kernel';
import { isTransient, isUnavailable } from '../database/database-errors.js';
import type { Log } from '../logging/log.js';
import { isRedisUnavailable } from '../redis/redis-errors.js';

/** A task that goes on failing has a line so often. */
const REPEAT_MS = 60_000;

/** Tells operators how one task fares: by its metric, and by a line when it fails and when it works again. */
export class TaskReport {
  private readonly loggedAt = { warn: -Infinity, error: -Infinity };
  private failures = 0;
  private logged = false;

  /** @param setLastSuccess sets the metric to the present time */
  constructor(
    private readonly task: string,
    private readonly log: Log,
    private readonly setLastSuccess: () => void,
  ) {}

  succeeded(): void {
    this.setLastSuccess();
    // One that fails now and then has a line a minute, not two for each failure.
    if (this.logged) this.log.info({ task: this.task }, 'background task works again');
    this.failures = 0;
    this.logged = false;
  }

  failed(error: unknown): void {
    const { task } = this;
    const level = passesByItself(error) ? 'warn' : 'error';
    this.failures += 1;
    const now = performance.now();
    if (now - this.loggedAt[level] < REPEAT_MS) return;
    this.loggedAt[level] = now;
    this.logged = true;
    this.log[level]({ err: error, task, failures: this.failures }, 'background task failed');
  }
}

/** A store is away, or somebody else had the lock: nothing is wrong with the task. */
function passesByItself(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    isUnavailable(error) ||
    isTransient(error) ||
    isRedisUnavailable(error)
  );
}
