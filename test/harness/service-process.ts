import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program, Programs } from './programs.js';
import { isReady } from './ready.js';
import { ROOT } from './tools.js';

const READY_MS = 60_000;
const LOOK_AGAIN_MS = 50;

/** Variables of a process's environment. */
export type Environment = Record<string, string>;

/** How a process gets to a store. */
export interface Way {
  /** Asked for at each start of the process. */
  readonly url: string;
}

/** An API or a worker, which its supervisor starts again when it was killed. */
export class ServiceProcess<To extends Way = Way> {
  /** When it was started last, own clock in ms. */
  startedAt = 0;
  private program: Program | undefined;
  private endIsOurs = true;
  private isRunning = false;

  /**
   * @param kind of process
   * @param postgres its way to PostgreSQL, `redis` to Redis
   * @param onUnexpectedEnd is told how it ended when nobody here ended it
   * @param nodeOptions for Node.js itself
   */
  constructor(
    readonly name: string,
    readonly kind: 'api' | 'worker',
    readonly port: number,
    readonly postgres: To,
    readonly redis: To,
    private readonly programs: Programs,
    private readonly environment: Environment,
    private readonly onUnexpectedEnd: (how: string) => void,
    private readonly nodeOptions: readonly string[] = [],
  ) {}

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  launch(): void {
    const main = join(ROOT, `dist/apps/${this.kind}/src/main.js`);
    const env = {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      [this.kind === 'api' ? 'PORT' : 'WORKER_PORT']: String(this.port),
      DATABASE_URL: this.postgres.url,
      REDIS_URL: this.redis.url,
      ...this.environment,
    };
    const options = { cwd: ROOT, env };
    const args = [...this.nodeOptions, main];
    const program = this.programs.start(this.name, process.execPath, args, options);
    this.program = program;
    this.startedAt = Date.now();
    this.endIsOurs = false;
    this.isRunning = true;
    void this.watch(program);
  }

  async ready(): Promise<void> {
    const deadline = Date.now() + READY_MS;
    while (Date.now() < deadline) {
      if (await isReady(this.port)) return;
      await sleep(LOOK_AGAIN_MS);
    }
    throw this.programs.failure(this.name, `is not ready after ${String(READY_MS / 1_000)} s`);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.killNow();
    await this.program?.exited;
  }

  /** SIGKILL, at once. */
  killNow(): void {
    this.endIsOurs = true;
    if (this.isRunning) this.signal('SIGKILL');
  }

  /** SIGTERM. @returns how it ended, and after how many ms */
  async terminate(): Promise<{ how: string; ms: number }> {
    this.endIsOurs = true;
    const start = performance.now();
    this.signal('SIGTERM');
    const how = (await this.program?.exited) ?? 'never ran';
    return { how, ms: performance.now() - start };
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  get pid(): number {
    return this.program?.pid ?? 0;
  }

  /** Resident memory in MB; undefined when it does not run. */
  memory(): number | undefined {
    try {
      const status = readFileSync(`/proc/${String(this.pid)}/status`, 'utf8');
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
    } catch {
      return undefined;
    }
  }

  /** What it wrote since its log was `from` characters long. */
  output(from = 0): string {
    return this.programs.output(this.name, from);
  }

  private async watch(program: Program): Promise<void> {
    const how = await program.exited;
    if (program !== this.program) return;
    this.isRunning = false;
    if (!this.endIsOurs) this.onUnexpectedEnd(`${this.name} ${how}`);
  }
}
