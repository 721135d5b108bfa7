import cluster from 'node:cluster';
import type { Server } from 'node:http';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { AggregatorRegistry } from 'prom-client';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { Metrics } from './metrics.js';
import { serveMetrics } from './serve-metrics.js';

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
