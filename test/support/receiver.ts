import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '#tools/eventually';

/** A notification as it came in. */
export interface Received {
  id: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/** What a receiver does with a notification; by default it answers 200. */
export type Answering = (received: Received, response: ServerResponse) => void;

/** A customer's web application. */
export interface Receiver {
  url: string;
  received: Received[];
  answering: Answering;
  /** Waits until the condition holds for what was received. */
  until: (holds: (received: readonly Received[]) => boolean, ms?: number) => Promise<void>;
  close: () => Promise<void>;
}

/** Starts a receiver on a free port of a loopback address. */
export async function startReceiver(
  answering: Answering = (_, response) => response.end(),
  address = '127.0.0.1',
): Promise<Receiver> {
  const received: Received[] = [];
  const receiver: Receiver = {
    url: '',
    received,
    answering,
    until: async (holds, ms = 30_000) => {
      await eventually(() => Promise.resolve(holds(received)), Boolean, { ms });
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const notification = {
        id: String(request.headers['webhook-id']),
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: Date.now(),
      };
      received.push(notification);
      receiver.answering(notification, response);
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  receiver.url = `http://${address}:${(server.address() as AddressInfo).port}`;
  return receiver;
}
