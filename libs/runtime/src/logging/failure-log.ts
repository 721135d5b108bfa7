import { Injectable } from '@nestjs/common';
import { codeOf } from '../database/database-errors.js';
import { Log } from './log.js';

const SUMMARY_MS = 1_000;

/** Equal failures since the last line, and the newest of them. */
interface Repeated {
  count: number;
  fields: object;
}

/**
 * Logs failures of requests and deliveries, all of which fail while a store is away: the first one at once and then, for
 * equal errors, one line a second with their count.
 */
@Injectable()
export class FailureLog {
  /** By message and error, while a line for them was written less than a second ago. */
  private readonly repeated = new Map<string, Repeated>();

  constructor(private readonly log: Log) {}

  failed(error: unknown, fields: object, message: string): void {
    const key = `${message} ${keyOf(error)}`;
    const since = this.repeated.get(key);
    if (since) {
      since.count += 1;
      since.fields = fields;
      return;
    }
    this.log.error(fields, message);
    this.summariseLater(key, message);
  }

  private summariseLater(key: string, message: string): void {
    const since = { count: 0, fields: {} };
    this.repeated.set(key, since);
    setTimeout(() => {
      this.repeated.delete(key);
      if (since.count === 0) return;
      this.log.error({ ...since.fields, count: since.count }, message);
      this.summariseLater(key, message);
    }, SUMMARY_MS).unref();
  }
}

/** The code of PostgreSQL or of the operating system, because messages about a full disk name different files. */
function keyOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return codeOf(cause) || (cause instanceof Error ? cause.message : '');
}
