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
 * Everything that the process does again and again by itself. A provider adds its tasks in its
 * constructor; they start with the process and stop with it.
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
      'When a background task last succeeded; when it was started, until then.',
      ['task'],
    );
  }

  /** @param name names it in the log and in the metric: lower case, words joined by hyphens */
  add(name: string, options: TaskOptions, work: TaskWork): BackgroundTask {
    const setLastSuccess = (): void => this.lastSuccess.setToCurrentTime({ task: name });
    setLastSuccess();
    const task = new BackgroundTask(work, options, new TaskReport(name, this.log, setLastSuccess));
    this.tasks.push(task);
    return task;
  }

  async onApplicationBootstrap(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.start()));
  }

  /** Tells all to stop before anything waits for one of them. */
  onModuleDestroy(): void {
    for (const task of this.tasks) void task.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.stop()));
  }
}
