import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The network between one of our processes and a store, as a TCP proxy. */
export class Link {
  private readonly pairs = new Set<{ near: Socket; far: Socket }>();
  private readonly forgotten = new Set<{ near: Socket; far: Socket }>();
  private state: 'open' | 'cut' | 'halfOpen' = 'open';
  private delayMs = 0;
  private readonly waiting: { work: () => void; dueAt: number }[] = [];
  private server: Server | undefined;

  /**
   * @param store the address of the store, evaluated for each connection
   */
  constructor(private readonly store: () => URL) {}

  async listen(): Promise<void> {
    this.server = createServer((near) => this.connect(near)).listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** The address of the store through the link. */
  get url(): string {
    const url = this.store();
    url.port = String((this.server?.address() as AddressInfo).port);
    return url.toString();
  }

  /** The local ports of its connections to the store. */
  get ports(): number[] {
    return [...this.pairs].flatMap(({ far }) => far.localPort ?? []);
  }

  /** Lets everything work again, except half-open connections, which stay silent forever. */
  open(): void {
    this.state = 'open';
    this.delayMs = 0;
  }

  /** Resets every connection, including new ones. */
  cut(): void {
    this.state = 'cut';
    for (const { near, far } of this.pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /**
   * Acts as if the far end had vanished without notice: the process considers its connections open, even new ones, but
   * the store has lost them, and no data passes.
   */
  halfOpen(): void {
    this.state = 'halfOpen';
    for (const { near, far } of this.pairs) {
      near.removeAllListeners('close').removeAllListeners('data').resume();
      far.removeAllListeners('close').destroy();
    }
  }

  /**
   * Acts like a firewall that forgets its connections: both ends still consider them open, transactions stay open, and
   * no data ever passes again. New connections work.
   */
  forget(): void {
    for (const pair of this.pairs) {
      this.pairs.delete(pair);
      this.forgotten.add(pair);
      for (const socket of [pair.near, pair.far]) {
        socket.removeAllListeners('close').removeAllListeners('data').resume();
      }
    }
  }

  /** Resets the forgotten connections, as if both ends had noticed. */
  reset(): void {
    for (const { near, far } of this.forgotten) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.forgotten.clear();
  }

  /** Adds this delay in each direction. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  close(): void {
    this.cut();
    this.reset();
    this.server?.close();
  }

  private connect(near: Socket): void {
    near.on('error', () => undefined);
    if (this.state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    if (this.state === 'halfOpen') {
      near.resume();
      return;
    }
    const { hostname, port } = this.store();
    const far = connect(Number(port), hostname);
    const pair = { near, far };
    this.pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('data', (bytes) => this.pass(to, bytes));
      from.on('close', () => {
        this.pairs.delete(pair);
        this.later(() => to.destroy());
      });
    }
  }

  private pass(to: Socket, bytes: Buffer): void {
    this.later(() => {
      if (to.writable) to.write(bytes);
    });
  }

  /** Runs work in order: delayed data waits for earlier data. */
  private later(work: () => void): void {
    if (this.delayMs === 0 && this.waiting.length === 0) {
      work();
      return;
    }
    this.waiting.push({ work, dueAt: performance.now() + this.delayMs });
    if (this.waiting.length === 1) this.workWhenDue();
  }

  private workWhenDue(): void {
    const [first] = this.waiting;
    if (!first) return;
    setTimeout(() => {
      do this.waiting.shift()?.work();
      while ((this.waiting[0]?.dueAt ?? Infinity) <= performance.now());
      this.workWhenDue();
    }, first.dueAt - performance.now());
  }
}
