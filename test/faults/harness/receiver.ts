import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A notification as it came in. */
export interface Arrival {
  /** Its id, the same on every attempt. */
  id: string;
  /** Of the target: one of each subscription. */
  path: string;
  /** Of the event, as the producer counts. */
  number: number;
  /** How often this id came before. */
  earlier: number;
  headers: IncomingHttpHeaders;
  /** Own clock, ms. */
  at: number;
  /** When we were through with an answer of 2xx, as far as we know. */
  confirmedAt?: number;
}

/** What is done with a notification. A 2xx is given with {@link confirm}. */
export type Answering = (arrival: Arrival, response: ServerResponse) => void;

/** Answers 200, and notes that. */
export function confirm(arrival: Arrival, response: ServerResponse): void {
  response.writeHead(200).end(() => (arrival.confirmedAt = Date.now()));
}

/** The customer's web application: remembers what came, and how often it said yes. */
export class Receiver {
  readonly arrivals: Arrival[] = [];
  answering: Answering = confirm;
  private readonly counts = new Map<string, number>();
  private server: Server | undefined;

  async listen(): Promise<void> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      // A worker that is killed breaks off.
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const arrival = this.note(request.url ?? '', request.headers, body);
        this.answering(arrival, response);
      });
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server?.address() as AddressInfo).port)}`;
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
    this.server?.close();
    this.server?.closeAllConnections();
  }

  /** Notes a notification. @param body as it was sent */
  note(path: string, headers: IncomingHttpHeaders, body: string): Arrival {
    const id = String(headers['webhook-id']);
    const earlier = this.counts.get(id) ?? 0;
    this.counts.set(id, earlier + 1);
    const { data } = JSON.parse(body) as { data: { number: number } };
    const arrival = { id, path, number: data.number, earlier, headers, at: Date.now() };
    this.arrivals.push(arrival);
    return arrival;
  }
}

/** What one subscription is to be told of one event. */
export function keyOf({ path, number }: { path: string; number: number }): string {
  return `${path} ${String(number)}`;
}
