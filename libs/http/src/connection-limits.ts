import cluster from 'node:cluster';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { ignoreFurtherRequests } from './connection-close.js';
import { limitUnauthenticated, noteAnswered, noteRequest } from './unauthenticated-connections.js';

/** Options for creating the server. */
export const LIMITS = {
  /** The size limit of a request's target and headers together, in bytes; beyond it, 400. */
  maxHeaderSize: 16 << 10,
  /** How often the server checks the timeouts of incomplete requests, in ms. */
  connectionsCheckingInterval: 1_000,
};

/** Header lines of a request. Clients and their proxies send at most a third of that. */
export const MAX_HEADERS = 100;

/** The timeout for a request, and for its headers, from its first byte or the start of the connection. */
const REQUEST_MS = 60_000;
const HEADERS_MS = 10_000;
/** How long a connection may be idle between requests. */
const KEEP_ALIVE_MS = 5_000;

/** The answer to a request that is not complete within its timeout. */
export function timeoutError(): DomainError {
  const message = 'The whole request did not arrive in time.';
  return new DomainError('request_timeout', 'request_timeout', message);
}

/**
 * Limits the resources that slow or many clients can occupy.
 * @param isProxy whether an address is a trusted proxy's
 * @param dropped is called for each connection that was dropped
 */
export function limitConnections(
  server: Server,
  config: Pick<Config, 'MAX_CONNECTIONS'>,
  isProxy: (address: string) => boolean,
  dropped: () => void,
): void {
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = HEADERS_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Node drops further headers, each of which takes many times its bytes of memory, but not the first one that
  // is too many: requestMiddleware refuses the request.
  server.maxHeadersCount = MAX_HEADERS + 1;
  if (cluster.isWorker) dropBeyond(server, config.MAX_CONNECTIONS);
  else server.maxConnections = config.MAX_CONNECTIONS;
  server.on('drop', dropped);
  limitUnauthenticated(server, isProxy, dropped);
}

/**
 * With `maxConnections`, a full process of a cluster refuses the connection, and Node offers it to the others:
 * endlessly, if all are full.
 */
function dropBeyond(server: Server, limit: number): void {
  let open = 0;
  server.prependListener('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    if (open <= limit) return;
    socket.destroy();
    server.emit('drop');
  });
}

/**
 * Disconnects a client that has not read any of its answer for `ms`. Node would keep the connection and the
 * unsent data in memory for ever.
 */
export function disconnectStalledReader(response: ServerResponse, ms: number): void {
  response.setTimeout(ms, () => {
    const { socket } = response;
    // With nothing to send, we have not answered yet. Writing restarts the timeout.
    if (socket && socket.writableLength > 0) socket.destroy();
  });
}

/**
 * Unanswered requests on one connection. Clients that pipeline send only a few, and all of them start before the event
 * loop is free again.
 */
const MAX_PIPELINED = 10;

/** The answers of a connection that are not sent, oldest first, and one that was sent before its request was complete. */
interface Answers {
  waiting: ServerResponse[];
  early?: ServerResponse;
}

const answersTo = new WeakMap<Socket, Answers>();

/**
 * Stops accepting requests from a connection that has too many unanswered: one read of a socket can
 * contain hundreds, and all of them start before any other client is served. The last answer says that
 * the connection closes, and the client retries what was not answered (RFC 9112, section 9.3.2).
 */
export function limitPipeline(socket: Socket, response: ServerResponse): void {
  const answers = answersTo.get(socket) ?? answersOf(socket);
  const { waiting } = answers;
  waiting.push(response);
  noteRequest(socket);
  response.once('close', () => {
    waiting.splice(waiting.indexOf(response), 1);
    if (!response.req.complete) answers.early = response;
    noteAnswered(socket);
  });
  if (waiting.length < MAX_PIPELINED) return;
  response.setHeader('Connection', 'close');
  ignoreFurtherRequests(socket);
}

/** The answer that a connection is about to send: the only one that Node has given the socket, until it ends. */
export function currentAnswerOf(socket: Socket): ServerResponse | undefined {
  return answersTo.get(socket)?.waiting.find((response) => response.socket);
}

/** Whether a connection without a current answer is receiving the body of a request that is already answered. */
export function isAnsweredEarly(socket: Socket): boolean {
  const { waiting, early } = answersTo.get(socket) ?? { waiting: [] };
  return [early, ...waiting].some((response) => response?.req.complete === false);
}

/**
 * When a connection is lost, Node closes only the answer that is being sent. This closes the queued ones,
 * which would otherwise stay open for ever.
 */
function answersOf(socket: Socket): Answers {
  const waiting: ServerResponse[] = [];
  const answers: Answers = { waiting };
  answersTo.set(socket, answers);
  socket.once('close', () => {
    for (const response of [...waiting]) {
      if (response.socket) continue;
      // Node sets both; streams check the second one.
      Object.assign(response, { destroyed: true, _closed: true });
      response.emit('close');
    }
  });
  return answers;
}
