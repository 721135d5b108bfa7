import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import type { Config } from './config/config.js';
import { Log, OutageLog } from './logging/log.js';
import { type Shortage, shortageOf, SHORTAGES } from './shortage.js';
import { Metrics } from './telemetry/metrics.js';

/** After this long without a lack of resources, the log reports its end. */
const STEADY_MS = 5_000;
/** Health reports a lack for this long. A delivery that failed for it is tried again after five seconds. */
const REPORTED_MS = 10_000;

/** Reports calls that fail because this host lacks a resource: in the log, the metrics and the health. */
@Injectable()
export class HostResources {
  private readonly failures;
  private readonly outages: OutageLog;
  private last: { shortage: Shortage; at: number } | undefined;

  constructor(metrics: Metrics, log: Log) {
    this.outages = new OutageLog('the network of this host', log, STEADY_MS);
    this.failures = metrics.counter(
      'switchhook_host_shortages_total',
      'Calls to targets that failed because this host lacked file descriptors, memory or ports. They are no attempts.',
      { code: SHORTAGES },
    );
  }

  /** Ignores an error that is not about a lack of resources. */
  failed(error: unknown): void {
    const shortage = shortageOf(error);
    if (shortage === undefined) return;
    this.failures.inc({ code: shortage });
    this.last = { shortage, at: performance.now() };
    this.outages.away(error);
  }

  sufficed(): void {
    this.outages.back();
  }

  /** What the host lacked within the last ten seconds. */
  get shortage(): Shortage | undefined {
    const { shortage, at } = this.last ?? { at: -Infinity };
    return performance.now() - at < REPORTED_MS ? shortage : undefined;
  }
}

/** Descriptors for the queues, the log, and files. */
const OTHER_FILES = 100;
/** A target with several addresses that do not answer is dialled at this many at once. */
const FILES_PER_CALL = 6;
/** Of connections to targets, this many for each call of a worker stay open. */
const KEPT_PER_CALL = 2;

/** How many connections to targets stay open after their calls, at most. */
export function keptConnections({ WORKER_CONCURRENCY }: Config): number {
  return KEPT_PER_CALL * WORKER_CONCURRENCY;
}

/** How many files a process may have open at the same time with these settings. */
export function filesNeeded(name: 'api' | 'worker', config: Config): number {
  const { MAX_CONNECTIONS, WORKER_CONCURRENCY, DATABASE_POOL_SIZE } = config;
  const calls = FILES_PER_CALL * WORKER_CONCURRENCY + keptConnections(config);
  const connections = name === 'api' ? MAX_CONNECTIONS : calls;
  return connections + DATABASE_POOL_SIZE + OTHER_FILES;
}

/** @param limits the text of `/proc/self/limits` @returns Infinity if it has no limit */
export function filesAllowed(limits: string): number {
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}

/** Node.js has raised the soft limit to the hard one. */
export async function warnOfFewFiles(
  name: 'api' | 'worker',
  config: Config,
  log: Log,
): Promise<void> {
  // Only Linux has the file.
  const allowed = filesAllowed(await readFile('/proc/self/limits', 'utf8').catch(() => ''));
  const needed = filesNeeded(name, config);
  if (allowed < needed) log.warn({ allowed, needed }, 'this process may open too few files');
}
