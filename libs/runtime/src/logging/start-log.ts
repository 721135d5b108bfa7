import type { LoggerService } from '@nestjs/common';

/**
 * Nest's lines until the log of the process exists, on standard error: what the start waits for.
 * The error that ends it is not among them, since `startProcess` reports it.
 */
export class StartLog implements LoggerService {
  log(): void {
    // Which module was initialised when is of no use to an operator.
  }

  warn(message: unknown): void {
    process.stderr.write(`switchhook: ${String(message)}\n`);
  }

  error(message: unknown): void {
    if (!(message instanceof Error)) this.warn(message);
  }
}
