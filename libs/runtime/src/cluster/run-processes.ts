import cluster from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import { readConfig } from '../config/config.js';
import { jsonLines } from '../logging/json-lines.js';
import { orExit } from '../start-process.js';
import { serveMetrics } from '../telemetry/serve-metrics.js';
import { runChild } from './child.js';
import { Primary } from './primary.js';

/** A service that may consist of several processes. */
export interface Service {
  name: 'api' | 'worker';
  /** The setting with their number. */
  processes: 'API_PROCESSES' | 'WORKER_PROCESSES';
  /** Loads and starts it in this process. */
  load: () => Promise<unknown>;
}

/**
 * Runs a service in as many processes as its setting says: with one, in this one, otherwise in children that
 * share its ports.
 */
export async function runProcesses({ name, processes, load }: Service): Promise<void> {
  if (cluster.isWorker) {
    await runChild(load);
    return;
  }
  await orExit(name, async () => {
    const config = readConfig();
    if (config[processes] === 1) {
      await load();
      return;
    }
    const log = jsonLines(name, config.LOG_LEVEL);
    const metrics = new AggregatorRegistry();
    const source = { text: () => metrics.clusterMetrics(), contentType: metrics.contentType };
    if (config.METRICS_PORT > 0) await serveMetrics(source, log, config);
    new Primary(config[processes], log).start();
  });
}
