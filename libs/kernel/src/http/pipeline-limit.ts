import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeNoMore } from './lingering-close.js';

/** Requests of a connection that may wait for their answers; the clients that pipeline send a few. */
const MAX_PIPELINED = 32;

const unanswered = new WeakMap<Socket, number>();

/**
 * Stops accepting requests from a connection that has too many unanswered: one read of a socket can
 * contain hundreds, and nobody else is served until all of them have started. The last answer says that
 * the connection closes, and the client retries what was not answered (RFC 9112, section 9.3.2).
 */
export function limitPipeline(socket: Socket, response: ServerResponse): void {
  const count = (unanswered.get(socket) ?? 0) + 1;
  unanswered.set(socket, count);
  if (count === MAX_PIPELINED) {
    response.setHeader('Connection', 'close');
    takeNoMore(socket);
    return;
  }
  response.once('close', () => unanswered.set(socket, unanswered.get(socket)! - 1));
}
