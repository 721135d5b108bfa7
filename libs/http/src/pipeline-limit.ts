import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { swapRemove } from '#libs/kernel';
import { ignoreFurtherRequests } from './lingering-close.js';

/**
 * Unanswered requests on one connection. Clients that pipeline send only a few, and all of them start before the event
 * loop is free again.
 */
const MAX_PIPELINED = 16;

const unanswered = new WeakMap<Socket, ServerResponse[]>();

/**
 * Stops accepting requests from a connection that has too many unanswered: one read of a socket can
 * contain hundreds, and all of them start before any other client is served. The last answer says that
 * the connection closes, and the client retries what was not answered (RFC 9112, section 9.3.2).
 */
export function limitPipeline(socket: Socket, response: ServerResponse): void {
  const waiting = unanswered.get(socket) ?? answersOf(socket);
  waiting.push(response);
  response.once('close', () => swapRemove(waiting, response));
  if (waiting.length < MAX_PIPELINED) return;
  response.setHeader('Connection', 'close');
  ignoreFurtherRequests(socket);
}

/**
 * When a connection is lost, Node closes only the answer that is being sent. This closes the queued ones,
 * which would otherwise stay open for ever.
 */
function answersOf(socket: Socket): ServerResponse[] {
  const waiting: ServerResponse[] = [];
  unanswered.set(socket, waiting);
  socket.once('close', () => {
    for (const response of [...waiting]) {
      if (response.socket) continue;
      // Node sets both; streams check the second one.
      Object.assign(response, { destroyed: true, _closed: true });
      response.emit('close');
    }
  });
  return waiting;
}
