import cluster from 'node:cluster';
import type { Server } from 'node:http';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { VERSION } from '../config/version.js';
import { serveMetrics } from './serve-metrics.js';

/** Histogram buckets in seconds, from a millisecond to minutes. */
const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/**
 * The metrics of the process, named by the conventions of Prometheus. Label values come from short fixed
 * lists: an account, a URL or an id is never a label.
 */
@Injectable()
export class Metrics {
  /** For a primary that aggregates those of several processes. */
  readonly registry = new Registry();

  constructor() {
    const name = 'switchhook_build_info';
    const help = 'Always 1; its label is the version of the process.';
    const build = new Gauge({
      name,
      help,
      labelNames: ['version'],
      aggregator: 'first',
      registers: [this.registry],
    });
    build.set({ version: VERSION }, 1);
  }

  /**
   * Adds CPU, memory, garbage collection and event-loop delay of the process. Measuring the delay wakes the
   * process a hundred times a second.
   */
  observeProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    // Duplicates under names that Prometheus reserves for counters.
    for (const what of ['handles', 'requests', 'resources'])
      this.registry.removeSingleMetric(`nodejs_active_${what}_total`);
    // An average over several processes would hide a blocked one.
    Object.assign(this.registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') ?? {}, {
      aggregator: 'max',
    });
  }

  /**
   * A counter; the name ends in `_total`.
   * @param labels all values of each label; each series starts at 0, so that its first increase is visible
   */
  counter<Label extends string>(
    name: string,
    help: string,
    labels = {} as Record<Label, readonly string[]>,
  ): Counter<Label> {
    const labelNames = Object.keys(labels) as Label[];
    const counter = new Counter({ name, help, labelNames, registers: [this.registry] });
    for (const series of combinations(labels)) counter.inc(series, 0);
    return counter;
  }

  /** A histogram of durations; the name ends in `_seconds`. */
  seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name,
      help,
      labelNames: [...labelNames],
      buckets: SECONDS,
      registers: [this.registry],
    });
  }

  /**
   * A value that is read when it is scraped. If reading fails, it is omitted, so that an alert can detect
   * its absence.
   * @param ofSeveral aggregates the values of several processes; `max` for a store that each of them reads
   */
  gauge(
    name: string,
    help: string,
    read: () => number | Promise<number>,
    ofSeveral: 'sum' | 'max' | 'min' = 'sum',
  ): void {
    new Gauge({
      name,
      help,
      aggregator: ofSeveral,
      registers: [this.registry],
      async collect() {
        try {
          this.set(await read());
        } catch {
          this.remove();
        }
      },
    });
  }

  /** The time of the last occurrence, set by `setToCurrentTime`; the name ends in `_timestamp_seconds`. */
  timestamp<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<Label> {
    return new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      aggregator: 'max',
      registers: [this.registry],
    });
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}

/** Every combination of one value for each label. */
function combinations<Label extends string>(
  labels: Record<Label, readonly string[]>,
): Partial<Record<Label, string>>[] {
  return Object.entries<readonly string[]>(labels).reduce<Partial<Record<Label, string>>[]>(
    (chosen, [label, values]) =>
      chosen.flatMap((choice) => values.map((value) => ({ ...choice, [label]: value }))),
    [{}],
  );
}

/** Serves the metrics of this process or, in a child of a cluster, passes them to the primary. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly log: Log,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.METRICS_PORT === 0) return;
    this.metrics.observeProcess();
    if (cluster.isWorker) {
      // Its constructor listens to the primary.
      new AggregatorRegistry();
      AggregatorRegistry.setRegistries(this.metrics.registry);
      return;
    }
    this.server = await serveMetrics(this.metrics, this.log, this.config);
  }

  onApplicationShutdown(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }
}
