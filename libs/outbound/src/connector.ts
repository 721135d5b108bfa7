import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Connection, Dialer } from './dialer.js';
import { OUTBOUND_TLS, serverNameOf } from './target-url.js';
import { readByHeads } from './answer-heads.js';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const MAX_TLS_SESSIONS = 500;
/** undici's timers may end a little early, but the timeout of a call must end it. */
const SPARE_MS = 1_000;

type Dialled = Pick<Connection, 'address' | 'times'>;

const connections = new WeakMap<Socket, Dialled>();

/** The target's address at the end of a connection, and how long opening it took. */
export function dialled(socket: Socket): Dialled | undefined {
  return connections.get(socket);
}

/**
 * Opens undici's connections with the dialer, and TLS with the target on them.
 * @param timeoutMs for the connection, and again for TLS
 */
export function connectorFor(dialer: Dialer, timeoutMs: number): buildConnector.connector {
  const secure = buildConnector({
    ...OUTBOUND_TLS,
    timeout: timeoutMs + SPARE_MS,
    allowH2: false,
    maxCachedSessions: MAX_TLS_SESSIONS,
  });
  return (options, callback) => {
    const isSecure = options.protocol === 'https:';
    const port = Number(options.port || (isSecure ? HTTPS_PORT : HTTP_PORT));
    dialer.dial(options.hostname, port, timeoutMs).then(
      ({ socket, address, times }) => {
        const start = performance.now();
        const done = (...[error, opened]: buildConnector.CallbackArgs): void => {
          if (error) {
            // Like Node's own connection errors.
            callback(Object.assign(error, { address }), null);
            return;
          }
          const tls = isSecure ? { tls: performance.now() - start } : {};
          // Node reports an alert of TLS, but keeps the connection, whose end would then hide the alert.
          if (isSecure) opened.once('error', (alert: Error) => opened.destroy(alert));
          connections.set(opened, { address, times: { ...times, ...tls } });
          readByHeads(opened);
          callback(null, opened);
        };
        const servername = serverNameOf(options.hostname);
        if (isSecure) secure({ ...options, servername, httpSocket: socket }, done);
        else done(null, socket);
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}
