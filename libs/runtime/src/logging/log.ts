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

  /** Whether it has a line for each event request and each attempt. */
  get isDebug(): boolean {
    return this.pino.isLevelEnabled('debug');
  }

  debug(fields: object, message: string): void {
    this.pino.debug(fields, message);
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

/** Logs one line when a dependency becomes unavailable and one when it is back, for all callers. */
export class OutageLog {
  private lastAwayAt: number | undefined;

  /** @param steadyMs time without a failure until it counts as back, because an overloaded one fails on and off */
  constructor(
    private readonly dependency:
      'PostgreSQL' | 'Redis' | 'the egress proxy' | 'the network of this host',
    private readonly log: Log,
    private readonly steadyMs = 0,
  ) {}

  away(error: unknown): void {
    if (this.lastAwayAt === undefined) {
      this.log.warn({ err: error }, `${this.dependency} is away`);
    }
    this.lastAwayAt = performance.now();
  }

  back(): void {
    if (this.lastAwayAt === undefined) return;
    if (performance.now() - this.lastAwayAt < this.steadyMs) return;
    this.lastAwayAt = undefined;
    this.log.info({}, `${this.dependency} is back`);
  }
}
