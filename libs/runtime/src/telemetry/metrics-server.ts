import { createServer, type Server } from 'node:http';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { listen } from '../listen.js';
import { Log } from '../logging/log.js';
import { Metrics } from './metrics.js';

/** Serves `GET /metrics` on a separate port that is not meant for the public. */
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
    const server = createServer((request, response) => {
      if (request.method !== 'GET' || request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      this.metrics.text().then(
        (text) => response.setHeader('Content-Type', this.metrics.contentType).end(text),
        (error: unknown) => {
          this.log.error({ err: error }, 'metrics could not be collected');
          response.writeHead(500).end();
        },
      );
    });
    this.server = server;
    await listen(server, 'METRICS_PORT', this.config);
  }

  onApplicationShutdown(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }
}
