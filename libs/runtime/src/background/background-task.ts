import type { TaskReport } from './task-report.js';

/** However long a run took, `share` keeps the next one waiting no longer. */
const LONGEST_PAUSE_MS = 5_000;

export interface TaskOptions {
  /** The pause between two runs, in ms; longer where `share` asks for it. */
  everyMs: number;
  /** The part of the time that runs may take. By default 0.5: a run is followed by a pause as long. */
  share?: number;
  /** The process does not serve before the first run has ended, successfully or not. */
  beforeServing?: boolean;
}

/**
 * One run of a task. It must be safe to repeat, and to run in several processes at once. A long one
 * calls `signal.throwIfAborted()` between its steps, so that the process need not wait for all of them.
 */
export type TaskWork = (signal: AbortSignal) => Promise<void>;

/**
 * Repeats its work until it is stopped, one run after the other. A run that fails is reported, and
 * the next one comes as usual.
 */
export class BackgroundTask {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private wanted = false;
  /** It waits only for its time to come, or for somebody to want it. */
  private idle = false;
  private endSleep: () => void = () => undefined;

  constructor(
    private readonly work: TaskWork,
    private readonly options: TaskOptions,
    private readonly report: TaskReport,
  ) {}

  /** Resolves when the process may serve, as far as this task is concerned. */
  async start(): Promise<void> {
    const firstRun = this.run();
    this.loop = firstRun.then((tookMs) => this.repeat(tookMs));
    if (this.options.beforeServing === true) await firstRun;
  }

  /** There is work: the next run begins as soon as `share` allows. */
  soon(): void {
    this.wanted = true;
    if (this.idle) this.endSleep();
  }

  /** Begins no other run, and waits for the one under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.endSleep();
    await this.loop;
  }

  // Only this loop starts runs: a timer set by soon() would run them in its caller's transaction.
  private async repeat(tookMs: number): Promise<void> {
    const { signal } = this.stopping;
    for (let lastMs = tookMs; ; lastMs = await this.run()) {
      await this.pause(lastMs);
      if (signal.aborted) return;
    }
  }

  /** @returns how long it took, in ms */
  private async run(): Promise<number> {
    const { signal } = this.stopping;
    const start = performance.now();
    this.wanted = false;
    try {
      await this.work(signal);
      this.report.succeeded();
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) this.report.failed(error);
    }
    return performance.now() - start;
  }

  private async pause(tookMs: number): Promise<void> {
    const { everyMs, share = 0.5 } = this.options;
    const leastMs = Math.min(tookMs / share - tookMs, LONGEST_PAUSE_MS);
    await this.sleep(leastMs);
    if (this.wanted || everyMs <= leastMs) return;
    this.idle = true;
    await this.sleep(everyMs - leastMs);
    this.idle = false;
  }

  private async sleep(ms: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endSleep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
