import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { readConfigOf } from '../config/config.js';
import { jsonLines } from '../logging/json-lines.js';
import { exitOnFailure, TERMINAL_SIGNALS } from '../start-process.js';
import { serveMetrics } from '../telemetry/serve-metrics.js';

/** The message of a child to its primary once it has started. */
const READY = 'ready';

/** Runs a service as one of several processes. It shuts down gracefully if it loses its primary. */
async function runChild(load: () => Promise<unknown>): Promise<void> {
  for (const signal of TERMINAL_SIGNALS) process.on(signal, () => undefined);
  // Otherwise Node would exit as soon as the primary is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  await load();
  process.send?.(READY);
}

const RESTART_MS = 1_000;

/**
 * Keeps several processes of a service running. It forks one first, so that an operator's mistake is reported
 * once, and the others when that one is ready. If one ends before all have been ready, all end; later, one
 * that ends is replaced. A signal ends all of them and this process.
 */
class Primary {
  private readonly running = new Set<Worker>();
  /** Processes that have not been ready yet. */
  private readonly starting = new Set<Worker>();
  private toStart: number;
  private isStopping = false;
  private exitCode = 0;

  constructor(
    private readonly count: number,
    private readonly log: Logger,
  ) {
    this.toStart = count;
  }

  start(): void {
    for (const signal of ['SIGTERM', ...TERMINAL_SIGNALS]) process.on(signal, () => this.stop());
    cluster.on('message', (worker, message: unknown) => {
      if (message === READY) this.ready(worker);
    });
    cluster.on('exit', (worker, code: number | null, signal: string | null) =>
      this.ended(worker, code, signal),
    );
    this.fork();
  }

  private fork(): void {
    const worker = cluster.fork();
    this.running.add(worker);
    this.starting.add(worker);
  }

  private ready(worker: Worker): void {
    this.starting.delete(worker);
    if (this.toStart === 0 || this.isStopping) return;
    if (this.toStart === this.count) {
      for (let more = 1; more < this.count; more += 1) this.fork();
    }
    this.toStart -= 1;
  }

  private ended(worker: Worker, code: number | null, signal: string | null): void {
    this.running.delete(worker);
    const wasReady = !this.starting.delete(worker);
    if (this.isStopping) {
      // A process that was still loading has no handler for our signal.
      if (signal !== 'SIGTERM') this.exitCode ||= code ?? 1;
      this.exitIfAlone();
    } else if (wasReady || this.toStart === 0) {
      this.log.error(
        { child: worker.process.pid, code, signal },
        'process ended, starting another',
      );
      setTimeout(() => {
        if (!this.isStopping) this.fork();
      }, RESTART_MS);
    } else {
      this.exitCode = code ?? 1;
      this.stop();
    }
  }

  private stop(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    for (const worker of this.running) worker.process.kill('SIGTERM');
    this.exitIfAlone();
  }

  private exitIfAlone(): void {
    if (this.running.size === 0) process.exit(this.exitCode);
  }
}

/**
 * Runs a service in the number of processes that its setting says: one is this process, several are children
 * that share its ports. Its own index, so that a primary does not load the whole service.
 * @param load loads and starts it in this process
 */
export async function runProcesses(
  name: 'api' | 'worker',
  load: () => Promise<unknown>,
): Promise<void> {
  // So that stack traces name lines of our sources: only files that are loaded from now on are mapped.
  process.setSourceMapsEnabled(true);
  if (cluster.isWorker) {
    await runChild(load);
    return;
  }
  await exitOnFailure(name, async () => {
    const config = readConfigOf(name);
    const count = name === 'api' ? config.API_PROCESSES : config.WORKER_PROCESSES;
    if (count === 1) {
      await load();
      return;
    }
    const log = jsonLines(name, config.LOG_LEVEL);
    const metrics = new AggregatorRegistry();
    const source = { text: () => metrics.clusterMetrics(), contentType: metrics.contentType };
    if (config.METRICS_PORT > 0) await serveMetrics(source, log, config);
    new Primary(count, log).start();
  });
}
