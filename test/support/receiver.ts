import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { eventually } from '#tools/eventually';

/** A received notification. */
export interface Received {
  /** The same on every attempt. */
  id: string;
  /** Of the target, without a query. */
  path: string;
  /** Path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** By the receiver's clock, in ms. */
  at: number;
}

/** How a notification is handled. */
export type Answering<Came extends Received = Received> = (
  received: Came,
  response: ServerResponse,
) => void;

/** Where a receiver listens: by default on a free loopback port, without TLS. */
export interface Place {
  port?: number;
  address?: string;
  tls?: { key: string; cert: string };
}

/** A customer's web application that records what it receives. */
export class Receiver<Came extends Received = Received> {
  readonly received: Came[] = [];
  /** The first place where it listens. */
  url = '';
  private readonly servers: ReturnType<typeof createServer>[] = [];

  constructor(public answering: Answering<Came>) {}

  /** May be called more than once. @returns the address */
  async listen({ port = 0, address = '127.0.0.1', tls }: Place = {}): Promise<string> {
    const server = tls ? createTlsServer(tls) : createServer();
    server.on('request', (request, response) => this.take(request, response));
    // A client that does not trust the certificate ends the handshake.
    server.on('tlsClientError', () => undefined);
    server.listen(port, address);
    await once(server, 'listening');
    this.servers.push(server);
    const { port: taken } = server.address() as AddressInfo;
    const url = `${tls ? 'https' : 'http'}://${address}:${taken}`;
    this.url ||= url;
    return url;
  }

  /** Waits until the received notifications meet the condition. */
  async until(holds: (received: readonly Came[]) => boolean, ms = 30_000): Promise<void> {
    await eventually(() => this.received, holds, { ms });
  }

  async close(): Promise<void> {
    const closed = this.servers.map((server) => once(server.close(), 'close'));
    for (const server of this.servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  /** The record of a notification; undefined: not a notification, answered with 405. */
  protected note(
    received: Received,
    _request: IncomingMessage,
    _response: ServerResponse,
  ): Came | undefined {
    return received as Came;
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    // A killed worker breaks off its requests.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: target = '', headers } = request;
      const [path = ''] = target.split('?');
      const id = String(headers['webhook-id']);
      const body = Buffer.concat(chunks).toString('utf8');
      const all = { id, path, target, headers, body, at: Date.now() };
      const received = this.note(all, request, response);
      if (received === undefined) {
        response.writeHead(405).end();
        return;
      }
      this.received.push(received);
      this.answering(received, response);
    });
  }
}

/** Starts a receiver that answers 200 by default. */
export async function startReceiver(
  answering: Answering = (_, response) => response.end(),
  address = '127.0.0.1',
): Promise<Receiver> {
  const receiver = new Receiver(answering);
  await receiver.listen({ address });
  return receiver;
}
