import type { Log } from '../logging/log.js';
import { refusalOf } from './redis-refusals.js';

/**
 * Logs once that Redis refuses what a process goes on without, until Redis executes it again. That the connection is lost
 * is logged for the queues, which need it, too.
 */
export class RefusalLog {
  private isRefused = false;

  /** @param use what Redis is used for */
  constructor(
    private readonly use: string,
    private readonly log: Log,
  ) {}

  failed(error: unknown): void {
    const refusal = refusalOf(error);
    if (!refusal || this.isRefused) return;
    this.isRefused = true;
    this.log.warn({ use: this.use, err: refusal.cause }, 'Redis refuses a command');
  }

  worked(): void {
    this.isRefused = false;
  }
}
