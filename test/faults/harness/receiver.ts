import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Received, Receiver as AnyReceiver } from '../../support/receiver.js';

/** A received notification and its outcome. */
export interface Arrival extends Received {
  /** The producer's number of the event. */
  number: number;
  /** How often this id arrived before. */
  earlier: number;
  /** When the 2xx answer was complete, as far as the receiver knows. */
  confirmedAt?: number;
  /** Whether the connection had been used before. */
  reused: boolean;
  /** Status of the answer, if there was one. */
  answer?: number;
  /** When the whole answer was written. */
  writtenAt?: number;
  /** When it was answered, or its connection ended. */
  endedAt?: number;
}

/** Answers 200 and records it, unless the connection has ended. */
export function confirm(arrival: Arrival, response: ServerResponse): void {
  // Not in the callback of end(), which runs even if the client is gone.
  response.once('finish', () => (arrival.confirmedAt = Date.now()));
  response.writeHead(200).end();
}

/** Also counts confirmations, which {@link confirm} reports. */
export class Receiver extends AnyReceiver<Arrival> {
  /** Requests that were not notifications, for example after a redirect. */
  strays = 0;
  private readonly counts = new Map<string, number>();
  private readonly used = new WeakSet<Socket>();

  constructor() {
    super(confirm);
  }

  /** Arrivals answered with 2xx, by `path number`. All but one of each are duplicates. */
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

/** The expected notification of one event to one subscription. */
export function keyOf({ path, number }: { path: string; number: number }): string {
  return `${path} ${String(number)}`;
}
