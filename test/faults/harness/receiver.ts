import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A notification as it came in. */
export interface Arrival {
  /** Its id, the same on every attempt. */
  id: string;
  /** Of the target, without a query: one of each subscription. */
  path: string;
  /** Path and query. */
  target: string;
  /** Of the event, as the producer counts. */
  number: number;
  /** How often this id came before. */
  earlier: number;
  headers: IncomingHttpHeaders;
  /** Own clock, ms. */
  at: number;
  /** When we were through with an answer of 2xx, as far as we know. */
  confirmedAt?: number;
  /** Whether it came on a connection that had been used before. */
  reused: boolean;
  /** Status of the answer, when there was one. */
  answer?: number;
  /** When the whole answer was written. */
  writtenAt?: number;
  /** When it was answered, or its connection ended. */
  endedAt?: number;
}

/** What is done with a notification. A 2xx is given with {@link confirm}. */
export type Answering = (arrival: Arrival, response: ServerResponse) => void;

/** Answers 200, and notes that, unless the connection has ended. */
export function confirm(arrival: Arrival, response: ServerResponse): void {
  // Not by the callback of end(): that is called as well when there is nobody to answer.
  response.once('finish', () => (arrival.confirmedAt = Date.now()));
  response.writeHead(200).end();
}

/** The customer's web application: remembers what came, and how often it said yes. */
export class Receiver {
  readonly arrivals: Arrival[] = [];
  answering: Answering = confirm;
  private readonly counts = new Map<string, number>();
  /** Requests that were no notifications: where a redirect was followed, for one. */
  strays = 0;
  private readonly servers: ReturnType<typeof createServer>[] = [];
  private readonly used = new WeakSet<Socket>();

  /** @param port any by default; may be called more than once */
  async listen(port = 0): Promise<void> {
    await this.serve(createServer(), port);
  }

  /** @returns the address */
  async listenTls(key: string, cert: string): Promise<string> {
    const server = createTlsServer({ key, cert });
    await this.serve(server, 0);
    return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.servers[0]?.address() as AddressInfo).port)}`;
  }

  /** Those that were answered with 2xx, by `path number`: more than one each are duplicates. */
  confirmed(): Map<string, Arrival[]> {
    const confirmed = new Map<string, Arrival[]>();
    for (const arrival of this.arrivals) {
      if (arrival.confirmedAt === undefined) continue;
      const key = keyOf(arrival);
      confirmed.set(key, [...(confirmed.get(key) ?? []), arrival]);
    }
    return confirmed;
  }

  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private async serve(server: ReturnType<typeof createServer>, port: number): Promise<void> {
    server.on('request', (request, response) => this.take(request, response));
    // Whoever does not trust us does not shake hands.
    server.on('tlsClientError', () => undefined);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    this.servers.push(server);
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    // A worker that is killed breaks off.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        this.strays += 1;
        response.writeHead(405).end();
        return;
      }
      const arrival = this.note(request, Buffer.concat(chunks).toString('utf8'));
      response.on('finish', () => (arrival.writtenAt = Date.now()));
      response.on('close', () => {
        arrival.endedAt = Date.now();
        if (response.headersSent) arrival.answer = response.statusCode;
      });
      this.answering(arrival, response);
    });
  }

  private note({ url: target = '', headers, socket }: IncomingMessage, body: string): Arrival {
    const id = String(headers['webhook-id']);
    const earlier = this.counts.get(id) ?? 0;
    this.counts.set(id, earlier + 1);
    const [path = ''] = target.split('?');
    const { data } = JSON.parse(body) as { data: { number: number } };
    const reused = this.used.has(socket);
    this.used.add(socket);
    const arrival = {
      id,
      path,
      target,
      number: data.number,
      earlier,
      headers,
      reused,
      at: Date.now(),
    };
    this.arrivals.push(arrival);
    return arrival;
  }
}

/** What one subscription is to be told of one event. */
export function keyOf({ path, number }: { path: string; number: number }): string {
  return `${path} ${String(number)}`;
}
