import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Programs } from '../../harness/programs.js';
import { freePort } from '../../harness/tools.js';
import { until } from '../../harness/until.js';
import type { Distribution } from './distribution.js';

/** What came in since the last reset; times in µs of the machine's clock. */
export interface Received {
  /** Notifications that were answered with 200. */
  confirmed: number;
  firstAt: number;
  lastAt: number;
  /** When every `markEvery`-th came. */
  marks: number[];
  markEvery: number;
  /** Calls that waited for their answers at the same moment, of targets that take a while. */
  mostAtOnce: number;
  /** From the time that an event says it was due at to the first byte of its notification. */
  latencyUs?: Distribution;
}

const PROGRAM = fileURLToPath(new URL('receiver.main.js', import.meta.url));
const LOOK_EVERY_MS = 50;

/** Handle of the process that is told of everything. */
export class Receiver {
  private constructor(
    readonly url: string,
    private readonly control: string,
    readonly pid: number,
  ) {}

  static async start(programs: Programs): Promise<Receiver> {
    const [port, controlPort] = [await freePort(), await freePort()];
    const { pid } = programs.start('receiver', process.execPath, [
      PROGRAM,
      String(port),
      String(controlPort),
    ]);
    const receiver = new Receiver(
      `http://127.0.0.1:${String(port)}`,
      `http://127.0.0.1:${String(controlPort)}`,
      pid,
    );
    await until('the receiver answers', () => receiver.received().then(Boolean, () => false));
    return receiver;
  }

  reset(): Promise<unknown> {
    return this.ask('POST', '/');
  }

  received(): Promise<Received> {
    return this.ask('GET', '/');
  }

  async latencyUs(): Promise<Distribution> {
    const { latencyUs } = await this.ask('GET', '/latencies');
    if (!latencyUs) throw new Error('the receiver tells no latencies');
    return latencyUs;
  }

  /** Waits until so many were confirmed. @throws Error when nothing comes for so many ms */
  async reached(count: number, patienceMs = 30_000): Promise<Received> {
    let [seen, seenAt] = [-1, performance.now()];
    for (;;) {
      const received = await this.received();
      if (received.confirmed >= count) return received;
      if (received.confirmed !== seen) [seen, seenAt] = [received.confirmed, performance.now()];
      if (performance.now() - seenAt > patienceMs) {
        throw new Error(`only ${String(seen)} of ${String(count)} notifications came`);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  private ask(method: string, path: string): Promise<Received> {
    return new Promise((resolve, reject) => {
      const asked = request(this.control + path, { method, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(JSON.parse(text) as Received));
      });
      asked.on('error', reject);
      asked.end();
    });
  }
}
