import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type Config } from '../config/config.js';
import { jsonLines } from './json-lines.js';

/** Injection token of the process name, which every line has as `process`. */
export const PROCESS_NAME = Symbol('ProcessName');

/**
 * The log of the process: one JSON object per line on standard output. It must not contain secrets or
 * customer content: callers log ids, counts and errors.
 */
@Injectable()
export class Log {
  private readonly pino: Logger;

  constructor(@Inject(CONFIG) config: Config, @Inject(PROCESS_NAME) name: string) {
    this.pino = jsonLines(name, config.LOG_LEVEL);
  }

  info(fields: object, message: string): void {
    this.pino.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.pino.warn(fields, message);
  }

  error(fields: object, message: string): void {
    this.pino.error(fields, message);
  }

  /** Resolves once all lines have been written. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.pino.flush(() => resolve()));
  }
}

/** Writes Nest's own lines in our format, without its start-up messages. */
@Injectable()
export class NestLog implements LoggerService {
  constructor(private readonly sink: Log) {}

  log(): void {
    // Operators do not need to know when each module was initialised.
  }

  warn(message: unknown, context?: unknown): void {
    this.sink.warn({ context }, String(message));
  }

  error(message: unknown, stack?: unknown): void {
    this.sink.error({ stack }, String(message));
  }
}
