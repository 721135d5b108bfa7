import { createServer, type Server } from 'node:http';
import type { Config } from '../config/config.js';
import { listen } from '../start-process.js';

/** Metrics in the text format of Prometheus. */
interface MetricsSource {
  text: () => Promise<string>;
  readonly contentType: string;
}

/** Connections to the port, and requests on each of them; a scraper needs one of each. */
const MAX_CONNECTIONS = 50;
const MAX_REQUESTS = 8;

/** Serves `GET /metrics` on a separate port that is not meant for the public. */
export async function serveMetrics(
  metrics: MetricsSource,
  log: { error: (fields: object, message: string) => void },
  config: Config,
): Promise<Server> {
  // Requests at the same time share one collection.
  let collecting: Promise<string> | undefined;
  const collect = (): Promise<string> =>
    (collecting ??= metrics.text().finally(() => (collecting = undefined)));
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    collect().then(
      (text) => response.setHeader('Content-Type', metrics.contentType).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = MAX_REQUESTS;
  await listen(server, 'METRICS_PORT', config);
  return server;
}
