import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A received CONNECT. */
export interface Asked {
  /** Of the request line: `address:port`. */
  authority: string;
  host: string | undefined;
  authorization: string | undefined;
}

/** How a proxy handles a CONNECT: it connects, answers with a status, or does nothing. */
export type ProxyAnswering = (asked: Asked) => 'connect' | 'silence' | number;

/** An egress proxy for tests. */
export interface ConnectProxy {
  url: string;
  asked: Asked[];
  answering: ProxyAnswering;
  /** The number of open connections, including those to targets. */
  open: () => number;
  close: () => Promise<void>;
}

/**
 * Starts a proxy on 127.0.0.1 that connects to every requested address. @param tls for `https`
 */
export async function startConnectProxy(
  tls?: { key: string; cert: string },
  onPort = 0,
): Promise<ConnectProxy> {
  const sockets = new Set<Duplex>();
  const proxy: ConnectProxy = {
    url: '',
    asked: [],
    answering: () => 'connect',
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const keep = (socket: Duplex): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = tls ? createHttpsServer(tls) : createHttpServer();
  server.on('connection', keep);
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(client);
    const { url: authority = '', headers } = request;
    const asked = { authority, host: headers.host, authorization: headers['proxy-authorization'] };
    proxy.asked.push(asked);
    const answer = proxy.answering(asked);
    if (answer === 'silence') {
      // Otherwise it would not notice that the client has left.
      client.on('end', () => client.destroy()).resume();
      return;
    }
    if (answer !== 'connect') {
      client.end(`HTTP/1.1 ${answer} Refused\r\nContent-Length: 2\r\n\r\nno`);
      return;
    }
    const { hostname, port } = new URL(`http://${authority}`);
    const target: Socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(client).pipe(target);
    });
    keep(target);
    target.on('close', () => client.destroy());
    client.on('close', () => target.destroy());
  });
  server.listen(onPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  proxy.url = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  return proxy;
}
