import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a store, which makes the store unavailable and available again. */
export interface TcpProxy {
  /** `address` with the proxy in place of the target. */
  address: string;
  /** Cuts every connection and refuses new ones. */
  down: () => void;
  /** Keeps the connections but stops forwarding on them; new ones work. */
  freeze: () => void;
  /** The same for new connections, too, until `down` is called. */
  freezeAll: () => void;
  up: () => void;
  /** The number of connected clients. */
  clients: () => number;
  close: () => Promise<void>;
}

/**
 * @param onRequest gets the bytes of clients
 */
export async function proxyTo(
  address: string,
  onRequest?: (bytes: Buffer) => void,
): Promise<TcpProxy> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let isUp = true;
  let isFrozen = false;
  const server = createServer((socket) => {
    if (!isUp) {
      socket.resetAndDestroy();
      return;
    }
    if (isFrozen) {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
      return;
    }
    if (onRequest) socket.on('data', onRequest);
    const upstream = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(address);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const freeze = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    address: own.toString(),
    down: () => {
      isUp = false;
      isFrozen = false;
      cut();
    },
    freeze,
    freezeAll: () => {
      isFrozen = true;
      freeze();
    },
    up: () => {
      isUp = true;
    },
    clients: () => sockets.size / 2,
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
