import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Received, Receiver as AnyReceiver } from '../../support/receiver.js';

/** A notification as it came in, and what became of it. */
export interface Arrival extends Received {
  /** Of the event, as the producer counts. */
  number: number;
  /** How often this id came before. */
  earlier: number;
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

/** Answers 200, and notes that, unless the connection has ended. */
export function confirm(arrival: Arrival, response: ServerResponse): void {
  // Not by the callback of end(): that is called as well when there is nobody to answer.
  response.once('finish', () => (arrival.confirmedAt = Date.now()));
  response.writeHead(200).end();
}

/** Remembers how often it said yes, too; that is said with {@link confirm}. */
export class Receiver extends AnyReceiver<Arrival> {
  /** Requests that were no notifications: where a redirect was followed, for one. */
  strays = 0;
  private readonly counts = new Map<string, number>();
  private readonly used = new WeakSet<Socket>();

  constructor() {
    super(confirm);
  }

  /** Those that were answered with 2xx, by `path number`: more than one each are duplicates. */
  confirmed(): Map<string, Arrival[]> {
    const confirmed = new Map<string, Arrival[]>();
    for (const arrival of this.received) {
      if (arrival.confirmedAt === undefined) continue;
      const key = keyOf(arrival);
      confirmed.set(key, [...(confirmed.get(key) ?? []), arrival]);
    }
    return confirmed;
  }

  protected override note(
    received: Received,
    { method, socket }: IncomingMessage,
    response: ServerResponse,
  ): Arrival | undefined {
    if (method !== 'POST') {
      this.strays += 1;
      return undefined;
    }
    const { number } = (JSON.parse(received.body) as { data: { number: number } }).data;
    const earlier = this.counts.get(received.id) ?? 0;
    this.counts.set(received.id, earlier + 1);
    const arrival: Arrival = { ...received, number, earlier, reused: this.used.has(socket) };
    this.used.add(socket);
    response.on('finish', () => (arrival.writtenAt = Date.now()));
    response.on('close', () => {
      arrival.endedAt = Date.now();
      if (response.headersSent) arrival.answer = response.statusCode;
    });
    return arrival;
  }
}

/** What one subscription is to be told of one event. */
export function keyOf({ path, number }: { path: string; number: number }): string {
  return `${path} ${String(number)}`;
}
