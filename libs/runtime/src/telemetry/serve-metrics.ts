import { createServer, type Server } from 'node:http';
import type { Config } from '../config/config.js';
import { listen } from '../listen.js';

/** Metrics in the text format of Prometheus. */
interface MetricsSource {
  text: () => Promise<string>;
  readonly contentType: string;
}

/** Serves `GET /metrics` on a separate port that is not meant for the public. */
export async function serveMetrics(
  metrics: MetricsSource,
  log: { error: (fields: object, message: string) => void },
  config: Config,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.setHeader('Content-Type', metrics.contentType).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, 'METRICS_PORT', config);
  return server;
}
