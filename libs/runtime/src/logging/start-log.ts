import type { LoggerService } from '@nestjs/common';

/**
 * Writes Nest's lines to standard error until the process's log exists: they say what the start waits for.
 * It omits the error that ends the start, because `startProcess` reports it.
 */
export class StartLog implements LoggerService {
  log(): void {
    // Operators do not need to know when each module was initialised.
  }

  warn(message: unknown): void {
    process.stderr.write(`switchhook: ${String(message)}\n`);
  }

  error(message: unknown): void {
    if (!(message instanceof Error)) this.warn(message);
  }
}
