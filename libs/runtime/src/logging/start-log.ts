import type { LoggerService } from '@nestjs/common';
import { destination, type Logger } from 'pino';
import { jsonLines } from './json-lines.js';

/**
 * Writes JSON lines to standard error until the process's log exists. It omits the error that ends the start,
 * because `startProcess` reports it.
 */
export class StartLog implements LoggerService {
  private readonly pino: Logger;

  constructor(name: string) {
    this.pino = jsonLines(name, 'info', destination({ dest: 2, sync: true }));
  }

  log(): void {
    // Operators do not need to know when each module was initialised.
  }

  warn(message: unknown): void {
    this.pino.warn(String(message));
  }

  error(message: unknown): void {
    if (!(message instanceof Error)) this.pino.error(String(message));
  }

  fatal(message: string): void {
    this.pino.fatal(message);
  }
}
