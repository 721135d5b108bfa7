import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import type { Programs } from '#tools/programs';
import type { Distribution } from './distribution.js';

/** Counts since the last reset; times in µs of the machine's clock. */
export interface Received {
  /** Notifications that were answered with 200. */
  confirmed: number;
  firstAt: number;
  lastAt: number;
  /** When every `markEvery`-th arrived. */
  marks: number[];
  markEvery: number;
  /** The peak of calls waiting for their answers, at slow targets. */
  mostAtOnce: number;
  /** From the due time in an event to the first byte of its notification. */
  latencyUs?: Distribution;
}

const PROGRAM = fileURLToPath(new URL('receiver.main.js', import.meta.url));
const READY_MS = 30_000;

/** Handle of the receiver's process. */
export class Receiver {
  private constructor(
    readonly url: string,
    private readonly control: string,
    readonly pid: number,
  ) {}

  static async start(programs: Programs): Promise<Receiver> {
    const [port, controlPort] = [await freePort(), await freePort()];
    const program = programs.start('receiver', process.execPath, [
      PROGRAM,
      String(port),
      String(controlPort),
    ]);
    const receiver = new Receiver(
      `http://127.0.0.1:${String(port)}`,
      `http://127.0.0.1:${String(controlPort)}`,
      program.pid,
    );
    await program.ready(() => receiver.received().then(Boolean, () => false), READY_MS);
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

  /** Waits until this many were confirmed. @throws Error when none arrives for this many ms */
  async reached(count: number, patienceMs = 30_000): Promise<Received> {
    let last = await this.received();
    while (last.confirmed < count) {
      const seen = last.confirmed;
      const isMore = ({ confirmed }: Received) => confirmed > seen;
      const what = `more than ${seen} of ${count} notifications`;
      last = await eventually(() => this.received(), isMore, { ms: patienceMs, what });
    }
    return last;
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
