import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { now } from './clock.js';
import { type Distribution, distributionOf } from './distribution.js';

/** A request of the load. */
export interface Call {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What came of a load. */
export interface Load {
  calls: number;
  /** From the first call to the last answer. */
  seconds: number;
  startedAt: number;
  /** From when a call was due to the end of its answer, µs. */
  latencyUs: Distribution;
}

/** Makes the call that is due at a time in µs. */
export type NextCall = (dueAt: number) => Call;

/** Sends requests to one or more servers in turn; any answer other than 2xx is an error. */
export class LoadGenerator {
  private readonly pools: readonly Pool[];
  private turn = 0;

  /** @param connections to each server at the most */
  constructor(origins: readonly string[], connections: number) {
    this.pools = origins.map((origin) => new Pool(origin, { connections, pipelining: 1 }));
  }

  /** As many calls as can be, `atOnce` of them under way, for some seconds: the ceiling. */
  async closed(next: NextCall, atOnce: number, seconds: number): Promise<Load> {
    return this.measured(async (call) => {
      const end = performance.now() + seconds * 1_000;
      const client = async () => {
        while (performance.now() < end) await call(next, now());
      };
      await Promise.all(Array.from({ length: atOnce }, client));
    });
  }

  /** So many calls, `atOnce` of them under way. */
  async exactly(next: NextCall, atOnce: number, calls: number): Promise<Load> {
    return this.measured(async (call) => {
      let left = calls;
      const client = async () => {
        while (left-- > 0) await call(next, now());
      };
      await Promise.all(Array.from({ length: atOnce }, client));
    });
  }

  /** So many calls a second, whether those before are answered or not: waiting is counted. */
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

  async close(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.destroy()));
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

  /** Below undici's `request`, which makes a stream of each answer. */
  private send({ method, path, headers, body }: Call): Promise<void> {
    this.turn = (this.turn + 1) % this.pools.length;
    return new Promise((resolve, reject) => {
      let status = 0;
      let text = '';
      this.pools[this.turn]!.dispatch(
        { method, path, headers: headers ?? {}, body: body ?? null },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, statusCode) => {
            status = statusCode;
          },
          onResponseData: (_controller, chunk) => {
            if (status >= 300) text += chunk.toString();
          },
          onResponseEnd: () => {
            if (status < 300) resolve();
            else reject(new Error(`${method} ${path}: ${String(status)} ${text}`));
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  }
}
