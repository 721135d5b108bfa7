import { isUnavailable } from './database/database-errors.js';
import { InvalidConfigError } from './config/config.js';

/** How long an orderly end may take, in ms. */
const LONGEST_END_MS = 24_500;

/**
 * Runs what starts a process. When it fails, one line on standard error says why, and the process
 * exits with 1: an operator's mistakes need no stack, ours do. So it does when it was told to end
 * and a store, which neither answers nor refuses, keeps it.
 */
export async function startProcess(name: string, start: () => Promise<void>): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => setTimeout(() => process.exit(1), LONGEST_END_MS).unref());
  }
  try {
    await start();
  } catch (error) {
    process.stderr.write(`switchhook ${name}: ${reasonOf(error)}\n`, () => process.exit(1));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof InvalidConfigError) return error.message;
  if (isUnavailable(error)) return `PostgreSQL cannot be reached: ${firstLine(error)}`;
  if (!(error instanceof Error)) return String(error);
  // Of the operating system (a port that is taken) or of PostgreSQL (a wrong password).
  return 'code' in error ? firstLine(error) : (error.stack ?? error.message);
}

function firstLine(error: unknown): string {
  // Several addresses were tried in vain: an AggregateError, whose own message is empty.
  if (error instanceof AggregateError) return error.errors.map(firstLine).join('; ');
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
}
