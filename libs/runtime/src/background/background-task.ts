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
  private endPause: () => void = () => undefined;

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

  /** Starts no more runs, and waits for the current one to end. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.endPause();
    await this.loop;
  }

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
    try {
      await this.work(signal);
      this.report.succeeded();
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) this.report.failed(error);
    }
    return performance.now() - start;
  }

  private async pause(tookMs: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const { everyMs, share = 0.5 } = this.options;
    const neededMs = Math.min(tookMs / share - tookMs, LONGEST_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(everyMs, neededMs));
      const endPause = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.endPause = endPause;
    });
  }
}
