import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long a client has to read our last answer and to stop sending. */
const LINGER_MS = 2_000;
/** How long a client may keep sending ignored requests while its answers are being sent. */
const MAX_IGNORED_MS = 60_000;

/**
 * Closes connections in two steps (RFC 9112, section 9.6). Node closes both directions at once, so a client
 * that is still sending a refused body would get a reset instead of our answer.
 */
export function closeLingering(server: Server): void {
  server.on('connection', (socket: Socket) => {
    const destroySoon = () => linger(socket);
    socket.destroySoon = destroySoon;
  });
}

/** Node's parser, which calls `onIncoming` after the headers of a request. */
interface Parser {
  incoming: unknown;
  onIncoming: (request: { upgrade: boolean }) => number;
}

/** Tells the parser that the following bytes are not HTTP. */
const STOP_PARSING = 2;

const ending = new WeakSet<Socket>();

/**
 * Ignores all further requests on this connection: the client would not get their answers, and they may have
 * been smuggled in behind another request.
 */
export function ignoreFurtherRequests(socket: Socket): void {
  ending.add(socket);
  const { parser } = socket as Socket & { parser?: Parser | null };
  // One read of a socket can contain a thousand requests. Node would create objects for each, and an error for
  // each when the connection ends, which takes 60 ms.
  if (!parser) return;
  let since: number | undefined;
  const ignore = (request: { upgrade: boolean }): number => {
    // Otherwise Node would hand over the connection and stop handling its errors.
    request.upgrade = false;
    // Otherwise the body would wait for a reader.
    parser.incoming = null;
    // A client that keeps sending is never idle, and could delay its answers for ever.
    since ??= performance.now();
    if (performance.now() - since > MAX_IGNORED_MS) socket.destroy();
    return STOP_PARSING;
  };
  parser.onIncoming = ignore;
}

/** Whether further requests on this connection are ignored. */
export function isEnding(socket: Socket): boolean {
  return ending.has(socket);
}

/** Ends our direction, and discards what the client still sends until it ends its own. */
export function linger(socket: Socket): void {
  ignoreFurtherRequests(socket);
  if (socket.writable) socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** How long current requests may take to end. */
const GRACE_MS = 5_000;
const POLL_MS = 20;

/**
 * Stops accepting connections, lets current requests end, and closes each connection after its next answer. A
 * proxy without health checks may be using an idle connection at the moment when it is closed, and must not send
 * a POST again (RFC 9112, section 9.3.1), so one that is idle is only closed later.
 * @param idleMs how much later
 */
export async function closeOrderly(server: Server, idleMs: number): Promise<void> {
  let closed = false;
  server.prependListener('request', (_, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  const closing = new Promise<void>((resolve) => {
    // Not `close` of the HTTP server, which closes idle connections at once.
    NetServer.prototype.close.call(server, () => {
      closed = true;
      resolve();
    });
  });
  await Promise.race([closing, delay(idleMs)]);
  // Node checks for idle connections only once, so a busy one would stay open until its keep-alive timeout.
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
