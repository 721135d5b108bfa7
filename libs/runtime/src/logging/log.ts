import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { CONFIG, type Config } from '../config/config.js';
import { isAway } from '../database/database-errors.js';

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
}

/** @param to standard output by default */
export function jsonLines(name: string, level: string, to?: DestinationStream): Logger {
  const options = {
    level,
    base: { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
  };
  return to ? pino(options, to) : pino(options);
}

/**
 * The logged fields of an error. They are selected, because driver errors contain the statement and its
 * values, and so customer content. During an outage every request fails, and a stack would explain none of them.
 */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    ...(!isOutage(error) && { stack }),
    ...(error.cause !== undefined && { cause: errorFields(error.cause) }),
  };
}

function isOutage(error: unknown): boolean {
  return isAway(error) || (error instanceof Error && isOutage(error.cause));
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
