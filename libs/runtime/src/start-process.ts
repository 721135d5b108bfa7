import { STOP_SIGNALS } from './cluster/signals.js';
import { isUnavailable } from './database/database-errors.js';
import { UnusableDatabaseError } from './database/needed-settings.js';
import { InvalidConfigError } from './config/config.js';
import { StartLog } from './logging/start-log.js';

const SHUTDOWN_TIMEOUT_MS = 24_500;

/**
 * Starts a process, or exits as {@link orExit} does. It also exits with 1 if a store that hangs delays its
 * shutdown for too long.
 */
export async function startProcess(
  name: string,
  start: (log: StartLog) => Promise<void>,
): Promise<void> {
  for (const signal of STOP_SIGNALS) {
    process.once(signal, () => setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref());
  }
  await orExit(name, start);
}

/**
 * If the start of a process fails, logs the reason on standard error and exits with 1; only our own bugs get
 * a stack trace, an operator's mistakes get a sentence.
 */
export async function orExit(name: string, start: (log: StartLog) => Promise<void>): Promise<void> {
  const log = new StartLog(name);
  try {
    await start(log);
  } catch (error) {
    log.fatal(reasonOf(error));
    process.exit(1);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof InvalidConfigError) return error.message;
  if (error instanceof UnusableDatabaseError) return error.message;
  if (isUnavailable(error)) return `PostgreSQL cannot be reached: ${firstLine(error)}`;
  if (!(error instanceof Error)) return String(error);
  // From the operating system (a port that only root may use) or from PostgreSQL (a wrong password).
  return 'code' in error ? firstLine(error) : (error.stack ?? error.message);
}

function firstLine(error: unknown): string {
  // If several addresses failed, the error is an AggregateError with an empty message.
  if (error instanceof AggregateError) return error.errors.map(firstLine).join('; ');
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
}
