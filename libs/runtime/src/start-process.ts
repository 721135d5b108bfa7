import cluster from 'node:cluster';
import type { Server } from 'node:net';
import type { LoggerService } from '@nestjs/common';
import { destination, type Logger } from 'pino';
import { type Config, InvalidConfigError } from './config/config.js';
import { codeOf, firstLine, isUnavailable } from './database/database-errors.js';
import { UnusableDatabaseError } from './database/needed-settings.js';
import { jsonLines } from './logging/json-lines.js';

/** A terminal sends these to the whole process group. Children ignore them, because the primary forwards them. */
export const TERMINAL_SIGNALS = ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/** The signals that shut this process down gracefully. */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = cluster.isWorker
  ? ['SIGTERM']
  : ['SIGTERM', 'SIGINT'];

/**
 * Writes JSON lines to standard error until the process's log exists, without the error that ends the start,
 * which `startProcess` reports.
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

const SHUTDOWN_TIMEOUT_MS = 24_500;

/**
 * Starts a process, or exits like {@link exitOnFailure}. Also exits with 1 if a hanging store delays the
 * shutdown for too long.
 */
export async function startProcess(
  name: string,
  start: (log: StartLog) => Promise<void>,
): Promise<void> {
  for (const signal of STOP_SIGNALS) {
    process.once(signal, () => setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref());
  }
  await exitOnFailure(name, start);
}

/**
 * If the start of a process fails, logs the reason on standard error and exits with 1: an operator's mistake
 * as a sentence, our own bugs with a stack trace.
 */
export async function exitOnFailure(
  name: string,
  start: (log: StartLog) => Promise<void>,
): Promise<void> {
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

/** The settings with a port that a process listens on. */
type PortSetting = 'PORT' | 'WORKER_PORT' | 'METRICS_PORT';

/** A name that no resolver knows, and an address that this machine does not have. */
const HOST_FAULTS: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL'];

/**
 * Lets a server listen on the port of a setting.
 * @throws InvalidConfigError when the port is in use, or the address is not one of this machine
 */
export function listen(server: Server, setting: PortSetting, config: Config): Promise<void> {
  const port = config[setting];
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const code = codeOf(error);
      if (code === 'EADDRINUSE') {
        const message = `configuration: ${setting}: port ${String(port)} is in use`;
        reject(new InvalidConfigError(message));
      } else if (HOST_FAULTS.includes(code)) {
        const message = `configuration: HOST: must be an address of this machine (${code})`;
        reject(new InvalidConfigError(message));
      } else reject(error);
    };
    server.once('error', fail).listen(port, config.HOST, () => {
      server.off('error', fail);
      resolve();
    });
  });
}
