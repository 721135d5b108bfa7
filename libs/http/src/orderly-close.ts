import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** How long current requests have to end. */
const GRACE_MS = 5_000;
const POLL_MS = 20;

/**
 * Stops accepting connections, lets current requests end, and closes each connection as soon as it is idle.
 * Node checks for idle connections only once, so a busy one would stay open until its keep-alive timeout.
 */
export async function closeOrderly(server: Server): Promise<void> {
  let closed = false;
  server.prependListener('request', (_, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  const closing = new Promise<void>((resolve) => {
    server.close(() => {
      closed = true;
      resolve();
    });
  });
  const deadline = performance.now() + GRACE_MS;
  while (!isDone() && performance.now() < deadline) {
    server.closeIdleConnections();
    await Promise.race([closing, delay(POLL_MS)]);
  }
  server.closeAllConnections();
  await closing;

  function isDone(): boolean {
    return closed;
  }
}
