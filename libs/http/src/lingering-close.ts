import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client has, after our last answer, to read it and to stop sending. */
const LINGER_MS = 2_000;
/** How long a client may send requests that nobody takes, while its answers are under way. */
const SENDS_ON_MS = 60_000;

/**
 * Closes connections in two steps (RFC 9112, section 9.6). Node closes both directions at once, and
 * a client that was still sending a refused body would meet a reset instead of our answer.
 */
export function closeLingering(server: Server): void {
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => {
      linger(socket);
    };
  });
}

/** What Node's parser tells that it has read the headers of a request. */
interface Parser {
  incoming: unknown;
  onIncoming: (request: { upgrade: boolean }) => number;
}

/** To the parser: what follows is no HTTP. */
const PARSE_NO_FURTHER = 2;

const ending = new WeakSet<Socket>();

/**
 * No request that comes on this connection from now on is carried out: nobody would hear how it
 * ended, and it may be one that was smuggled in behind another.
 */
export function takeNoMore(socket: Socket): void {
  ending.add(socket);
  const { parser } = socket as Socket & { parser?: Parser | null };
  // One read of a socket can contain a thousand requests. Node would make objects of each, and an error of
  // each when the connection ends: 60 ms of the process.
  if (!parser) return;
  let since: number | undefined;
  parser.onIncoming = (request) => {
    // Node would hand over the connection, and look after its errors no more.
    request.upgrade = false;
    // Its body would wait for somebody who reads it.
    parser.incoming = null;
    // Whoever goes on sending is never idle, and would keep its answers waiting for ever.
    since ??= performance.now();
    if (performance.now() - since > SENDS_ON_MS) socket.destroy();
    return PARSE_NO_FURTHER;
  };
}

/** Whether requests on this connection are not carried out any more. */
export function isEnding(socket: Socket): boolean {
  return ending.has(socket);
}

/** Ends our direction; what the client still sends is thrown away until it ends, too. */
export function linger(socket: Socket): void {
  takeNoMore(socket);
  if (socket.writable) socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
