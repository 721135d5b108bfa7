import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';
import { type Call, Connection } from './connection.js';
import { type Distribution, distributionOf } from './distribution.js';

/** The result of a load. */
export interface Load {
  calls: number;
  /** From the first call to the last answer. */
  seconds: number;
  startedAt: number;
  /** From a call's due time to the end of its answer, in µs. */
  latencyUs: Distribution;
}

/** Makes the call that is due at a time, in µs. */
export type NextCall = (dueAt: number) => Call;

/** Sends requests to one or more servers; any answer other than 2xx is an error. */
export class LoadGenerator {
  /** In turns, so that each server gets its share. */
  private readonly idle: Connection[] = [];
  private readonly waiting: ((connection: Connection) => void)[] = [];
  private readonly all: Connection[] = [];

  /**
   * @param connections at most, to all servers together, unless {@link closed} needs more
   */
  constructor(
    private readonly origins: readonly string[],
    private connections: number,
  ) {}

  /** Makes as many calls as possible for some seconds, with `atOnce` under way: the ceiling. */
  async closed(next: NextCall, atOnce: number, seconds: number): Promise<Load> {
    this.connections = Math.max(this.connections, atOnce);
    return this.measured(async (call) => {
      const end = performance.now() + seconds * 1_000;
      const client = async () => {
        while (performance.now() < end) await call(next, now());
      };
      await Promise.all(Array.from({ length: atOnce }, client));
    });
  }

  /** Makes this many calls, with `atOnce` under way. */
  async exactly(next: NextCall, atOnce: number, calls: number): Promise<Load> {
    return this.measured(async (call) => {
      let left = calls;
      const client = async () => {
        while (left-- > 0) await call(next, now());
      };
      await Promise.all(Array.from({ length: atOnce }, client));
    });
  }

  /** Makes this many calls per second, whether or not earlier ones are answered: waiting counts. */
  async open(next: NextCall, rate: number, seconds: number): Promise<Load> {
    return this.measured(async (call) => {
      const start = now();
      const underWay = new Set<Promise<void>>();
      const total = Math.round(rate * seconds);
      const dueAt = (number: number) => Math.round(start + (number / rate) * 1e6);
      let sent = 0;
      while (sent < total) {
        for (; sent < total && dueAt(sent) <= now(); sent += 1) {
          const one = call(next, dueAt(sent));
          underWay.add(one);
          void one.finally(() => underWay.delete(one)).catch(() => undefined);
        }
        await sleep(1);
      }
      await Promise.all(underWay);
    });
  }

  close(): void {
    for (const connection of this.all) connection.close();
  }

  private async measured(
    work: (call: (next: NextCall, dueAt: number) => Promise<void>) => Promise<void>,
  ): Promise<Load> {
    const latencies: number[] = [];
    const startedAt = now();
    await work(async (next, dueAt) => {
      await this.send(next(dueAt));
      latencies.push(now() - dueAt);
    });
    const seconds = (now() - startedAt) / 1e6;
    return { calls: latencies.length, seconds, startedAt, latencyUs: distributionOf(latencies) };
  }

  private async send(call: Call): Promise<void> {
    const connection = await this.connection();
    await connection.call(call);
    const next = this.waiting.shift();
    if (next) next(connection);
    else this.idle.push(connection);
  }

  private connection(): Connection | Promise<Connection> {
    for (;;) {
      const kept = this.idle.shift();
      if (!kept) break;
      // Servers end long idle connections.
      if (!kept.isClosed) return kept;
      this.all.splice(this.all.indexOf(kept), 1);
    }
    if (this.all.length < this.connections) {
      const made = new Connection(this.origins[this.all.length % this.origins.length]!);
      this.all.push(made);
      return made;
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
