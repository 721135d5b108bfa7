import { readFileSync } from 'node:fs';
import { answersOk } from '#tools/net';
import type { Program, Programs } from '#tools/programs';
import { HEAP_LIMITS, ROOT } from '#tools/settings';
import type { Environment } from './environment.js';

const READY_MS = 60_000;

/** How to start an API or a worker. */
export interface ServiceSetup {
  name: string;
  kind: 'api' | 'worker';
  port: number;
  programs: Programs;
  /** Called at each start; the whole environment of the process. */
  environment: () => Environment;
  /** Arguments of Node.js. */
  nodeOptions?: readonly string[];
  /** Called with how it ended if no method here ended it. */
  onUnexpectedEnd?: (how: string) => void;
  /** The root of the build. */
  root?: string;
}

/** An API or a worker, which its supervisor restarts after a kill. */
export class ServiceProcess {
  readonly name: string;
  readonly kind: 'api' | 'worker';
  readonly port: number;
  readonly url: string;
  /** The last start by our clock, in ms. */
  startedAt = 0;
  private started: Program | undefined;
  private endIsOurs = false;

  constructor(private readonly setup: ServiceSetup) {
    ({ name: this.name, kind: this.kind, port: this.port } = setup);
    this.url = `http://127.0.0.1:${this.port}`;
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  /** Starts it without waiting. */
  launch(): void {
    const { programs, environment, nodeOptions = [], onUnexpectedEnd, root = ROOT } = this.setup;
    const env = {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      NODE_OPTIONS: HEAP_LIMITS,
      // Independent of the machine's cores.
      API_PROCESSES: '1',
      WORKER_PROCESSES: '1',
      [this.kind === 'api' ? 'PORT' : 'WORKER_PORT']: String(this.port),
      ...environment(),
    };
    const args = [...nodeOptions, `dist/apps/${this.kind}/src/main.js`];
    const program = programs.start(this.name, process.execPath, args, { cwd: root, env });
    this.started = program;
    this.startedAt = Date.now();
    this.endIsOurs = false;
    void program.exited.then((how) => {
      if (program === this.started && !this.endIsOurs) onUnexpectedEnd?.(`${this.name} ${how}`);
    });
  }

  /** @throws Error with its last lines when it is not ready in time */
  ready(): Promise<void> {
    return this.program.ready(() => answersOk(`${this.url}/health/ready`), READY_MS);
  }

  /** SIGKILL, at once. */
  kill(): Promise<string> {
    this.endIsOurs = true;
    return this.program.kill();
  }

  /** SIGTERM, and SIGKILL if that takes too long. @returns how it ended */
  stop(): Promise<string> {
    this.endIsOurs = true;
    return this.program.stop();
  }

  signal(signal: NodeJS.Signals): void {
    this.program.signal(signal);
  }

  get pid(): number {
    return this.program.pid;
  }

  /** How it ended; see {@link Program}. */
  get exited(): Promise<string> {
    return this.program.exited;
  }

  /** Resident memory in MB, current or peak; NaN while it does not run. */
  memory(when: 'now' | 'peak' = 'now'): number {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      const [, kilobytes] =
        (when === 'now' ? /^VmRSS:\s+(\d+)/m : /^VmHWM:\s+(\d+)/m).exec(status) ?? [];
      return Number(kilobytes) / 1_024;
    } catch {
      return NaN;
    }
  }

  /** Its output since the last start. */
  output(): string {
    return this.program.output();
  }

  /** The lines of its log. @throws SyntaxError for a line that is not JSON */
  log(): Record<string, unknown>[] {
    const lines = this.output().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  private get program(): Program {
    if (!this.started) throw new Error(`${this.name} was never started`);
    return this.started;
  }
}
