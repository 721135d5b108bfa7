import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** How long requests that are under way have to end. */
const GRACE_MS = 5_000;
const LOOK_AGAIN_MS = 20;

/**
 * Stops accepting, lets requests under way end, and closes each connection as soon as it is idle:
 * Node looks at them once, so one that was busy then would stay until its keep-alive ran out.
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
    await Promise.race([closing, delay(LOOK_AGAIN_MS)]);
  }
  server.closeAllConnections();
  await closing;

  function isDone(): boolean {
    return closed;
  }
}
