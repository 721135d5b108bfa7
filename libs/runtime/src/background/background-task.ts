import type { TaskReport } from './task-report.js';

/** The longest pause that `share` adds, however long a run took. */
const LONGEST_PAUSE_MS = 5_000;

export interface TaskOptions {
  /** The pause between two runs, in ms; longer if `share` requires it. */
  everyMs: number;
  /** The fraction of time that runs may take. By default 0.5: after each run, a pause of the same length. */
  share?: number;
  /** The process starts serving only when the first run has ended, successfully or not. */
  beforeServing?: boolean;
}

/**
 * One run of a task. It must be safe to repeat, and to run in several processes at once. A long run
 * calls `signal.throwIfAborted()` between its steps, so that the process can stop early.
 */
export type TaskWork = (signal: AbortSignal) => Promise<void>;

/**
 * Repeats its work until it is stopped, one run at a time. A failed run is reported and does not change the
 * schedule.
 */
export class BackgroundTask {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private isRequested = false;
  /** Whether {@link soon} may end the current pause. */
  private isIdle = false;
  private endSleep: () => void = () => undefined;

  constructor(
    private readonly work: TaskWork,
    private readonly options: TaskOptions,
    private readonly report: TaskReport,
  ) {}

  /** Resolves when this task allows the process to serve. */
  async start(): Promise<void> {
    const firstRun = this.run();
    this.loop = firstRun.then((tookMs) => this.repeat(tookMs));
    if (this.options.beforeServing === true) await firstRun;
  }

  /** Requests a run, which begins as soon as `share` allows. */
  soon(): void {
    this.isRequested = true;
    if (this.isIdle) this.endSleep();
  }

  /** Starts no more runs, and waits for the current one to end. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.endSleep();
    await this.loop;
  }

  // Only this loop starts runs: a timer set in soon() would run them inside its caller's transaction.
  private async repeat(tookMs: number): Promise<void> {
    const { signal } = this.stopping;
    for (let lastMs = tookMs; ; lastMs = await this.run()) {
      await this.pause(lastMs);
      if (signal.aborted) return;
    }
  }

  /** @returns its duration in ms */
  private async run(): Promise<number> {
    const { signal } = this.stopping;
    const start = performance.now();
    this.isRequested = false;
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
    if (this.isRequested || everyMs <= leastMs) return;
    this.isIdle = true;
    await this.sleep(everyMs - leastMs);
    this.isIdle = false;
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
