import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/**
 * Answers `Expect: 100-continue` only when a route reads the body. Node would request the body at once, even
 * for a request that is then refused.
 */
export function leaveContinueToRoutes(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // A refused client may or may not send its body, so the connection cannot be reused.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** Whether the client waits for `100 Continue` before it sends the body. */
export function isWaiting(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** Sends `100 Continue` to a client that waits for it. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}
