import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/**
 * Leaves the answer to `Expect: 100-continue` to the route. Node would ask for the body at once;
 * so it is asked for when somebody wants it, which a refused request never comes to.
 */
export function leaveContinueToRoutes(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // A client that was refused may or may not send its body: the connection cannot be used on.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** Whether the client sends its body only when it is asked to. */
export function isWaiting(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** Asks a client that waits for it to send its body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}
