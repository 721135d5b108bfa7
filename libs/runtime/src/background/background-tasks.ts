import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Log } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { BackgroundTask, type TaskOptions, type TaskWork } from './background-task.js';
import { TaskReport } from './task-report.js';

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
