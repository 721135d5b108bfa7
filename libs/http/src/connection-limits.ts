import type { Server, ServerResponse } from 'node:http';
import type { Config, Metrics } from '#libs/runtime';

/** What a server has to be made with. */
export const LIMITS = {
  /** All headers of a request with its target, in bytes; more is 400. */
  maxHeaderSize: 16 << 10,
  /** How often requests are looked at that have not come in whole, in ms. */
  connectionsCheckingInterval: 1_000,
};

/** How long the headers of a request may take, from its first byte or the connection's start, in ms. */
const HEADERS_MS = 10_000;
/** How long a connection may be idle between requests, in ms. */
const KEEP_ALIVE_MS = 5_000;

/** Bounds what clients can take up by being slow or many. */
export function limitConnections(server: Server, config: Config, metrics: Metrics): void {
  server.requestTimeout = config.REQUEST_TIMEOUT_MS;
  server.headersTimeout = Math.min(HEADERS_MS, config.REQUEST_TIMEOUT_MS);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Node would drop what exceeds it without a word, Authorization maybe; requestMiddleware refuses.
  server.maxHeadersCount = 0;
  server.maxConnections = config.MAX_CONNECTIONS;
  const dropped = metrics.counter(
    'switchhook_dropped_connections_total',
    'Connections of clients beyond MAX_CONNECTIONS.',
  );
  server.on('drop', () => dropped.inc());
}

/**
 * Cuts a client that takes nothing of its answer for so long, in ms: what waits for it takes up memory
 * and a connection, and Node would keep both for ever.
 */
export function cutUnlessTaken(response: ServerResponse, ms: number): void {
  response.setTimeout(ms, () => {
    const { socket } = response;
    // Nothing waits: it is we who have not answered yet. Writing sets the time-out anew.
    if (socket && socket.writableLength > 0) socket.destroy();
  });
}
