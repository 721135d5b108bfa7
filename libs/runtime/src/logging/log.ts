import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { CONFIG, type Config } from '../config/config.js';

/** Where the lines of this process go; `process` names it in every line. */
export const PROCESS_NAME = Symbol('ProcessName');

/**
 * The log of the process: one JSON object a line, on standard output. Nothing secret and no
 * customer's content goes in: callers log ids, counts and errors.
 */
@Injectable()
export class Log {
  private readonly pino: Logger;

  constructor(@Inject(CONFIG) config: Config, @Inject(PROCESS_NAME) name: string) {
    this.pino = pino({
      level: config.LOG_LEVEL,
      base: { process: name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
    });
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

/**
 * What a line tells of an error. Chosen, not copied: errors of drivers carry the statement and
 * its values, and with them a customer's content.
 */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(error.cause !== undefined && { cause: errorFields(error.cause) }),
  };
}

/** Nest's own lines in our format; its start-up chatter is left out. */
@Injectable()
export class NestLog implements LoggerService {
  constructor(private readonly sink: Log) {}

  log(): void {
    // Which module was initialised when is of no use to an operator.
  }

  warn(message: unknown, context?: unknown): void {
    this.sink.warn({ context }, String(message));
  }

  error(message: unknown, stack?: unknown): void {
    this.sink.error({ stack }, String(message));
  }
}
