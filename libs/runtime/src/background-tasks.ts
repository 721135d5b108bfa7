import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { UnavailableError } from '#libs/kernel';
import { isTransient, isUnavailable } from './database/database-errors.js';
import { Log } from './logging/log.js';
import { isRedisUnavailable } from './redis/redis.js';
import { Metrics } from './telemetry/metrics.js';

/** How often a failing task is logged. */
const REPEAT_MS = 60_000;

/** Reports a task's runs: with a metric, and with log lines when it starts failing and when it recovers. */
class TaskReport {
  private readonly loggedAt = { warn: -Infinity, error: -Infinity };
  private failures = 0;
  private logged = false;

  /** @param setLastSuccess sets the metric to the current time */
  constructor(
    private readonly task: string,
    private readonly log: Log,
    private readonly setLastSuccess: () => void,
  ) {}

  succeeded(): void {
    this.setLastSuccess();
    // A task that fails intermittently is logged once a minute, not twice for each failure.
    if (this.logged) this.log.info({ task: this.task }, 'background task works again');
    this.failures = 0;
    this.logged = false;
  }

  failed(error: unknown): void {
    const { task } = this;
    const level = isTemporary(error) ? 'warn' : 'error';
    this.failures += 1;
    const now = performance.now();
    if (now - this.loggedAt[level] < REPEAT_MS) return;
    this.loggedAt[level] = now;
    this.logged = true;
    this.log[level]({ err: error, task, failures: this.failures }, 'background task failed');
  }
}

/** Whether a store was unavailable or a lock was held by others: not the fault of the task. */
function isTemporary(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    isUnavailable(error) ||
    isTransient(error) ||
    isRedisUnavailable(error)
  );
}

/** The longest pause that `share` adds, however long a run took. */
const LONGEST_PAUSE_MS = 5_000;

interface TaskOptions {
  /** How often it runs, in ms; less often if `share` requires it. */
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
class BackgroundTask {
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
    const now = performance.now();
    // Tasks run at the same moments, so that an idle process wakes once for all of them.
    const earliest = now + Math.max(everyMs / 2, neededMs);
    const next = Math.ceil(earliest / everyMs) * everyMs;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, next - now);
      const endPause = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.endPause = endPause;
    });
  }
}

/**
 * The background tasks of the process. Providers add tasks in their constructors; the tasks start and
 * stop with the process.
 */
@Injectable()
export class BackgroundTasks
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly tasks: BackgroundTask[] = [];
  private readonly lastSuccess;

  constructor(
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.lastSuccess = metrics.timestamp(
      'switchhook_task_last_success_timestamp_seconds',
      'Time of the last success of a background task; before the first one, its start.',
      ['task'],
    );
  }

  /** @param name for the log and the metric: lower case, words joined by hyphens */
  add(name: string, options: TaskOptions, work: TaskWork): void {
    const setLastSuccess = (): void => this.lastSuccess.setToCurrentTime({ task: name });
    setLastSuccess();
    const report = new TaskReport(name, this.log, setLastSuccess);
    this.tasks.push(new BackgroundTask(work, options, report));
  }

  async onApplicationBootstrap(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.start()));
  }

  /** Stops all tasks at once; {@link beforeApplicationShutdown} then waits for each. */
  onModuleDestroy(): void {
    for (const task of this.tasks) void task.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.stop()));
  }
}
