import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Queue } from 'bull';
import { Log, Metrics } from '#libs/runtime';
import type { DeliveryJob } from '../domain/delivery.js';
import { DeliveryRunner } from '../domain/delivery-runner.js';
import { letGo, prepareToConsume, stopAsking } from './bull-internals.js';
import { DeliveriesUnderWay } from './deliveries-under-way.js';
import { type DeliveriesJob, DELIVERY_QUEUES, JOB_NAME, jobsOf } from './delivery-queues.js';
import { DueDeliveries } from './due-deliveries.js';

/** What is still under way after that is left to the end of its lease. */
const DRAIN_MS = 23_000;
/** How long a worker that stops, and has nothing under way, waits for what Redis still answers. */
const LAST_JOB_MS = 1_000;

/**
 * Jobs of a queue that are taken in at once: enough to have the next ones while Redis is asked, and few,
 * since what a worker has taken in and has no slots for is what another could have sent.
 */
const LOOPS = 8;

/** Consumes the Bull queues: one handler for the one kind of job, on every shard. */
@Injectable()
export class DeliveryConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly malformed;

  constructor(
    @Inject(DELIVERY_QUEUES) private readonly queues: readonly Queue<DeliveriesJob>[],
    private readonly runner: DeliveryRunner,
    private readonly due: DueDeliveries,
    private readonly underWay: DeliveriesUnderWay,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.malformed = metrics.counter(
      'switchhook_malformed_jobs_total',
      'Deliveries in jobs of the queues that are not of the shape that this version reads.',
    );
  }

  onApplicationBootstrap(): void {
    for (const queue of this.queues) void this.consume(queue);
  }

  /** SIGTERM: sends nothing new, finishes what is under way, gives back what still comes in. */
  async beforeApplicationShutdown(): Promise<void> {
    this.runner.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    const stopped = Promise.allSettled([
      this.due.stop(),
      ...this.queues.map((queue) => this.drain(queue)),
    ]);
    await Promise.race([stopped, late]);
    clearTimeout(timer);
    for (const queue of this.queues) letGo(queue);
    this.underWay.summarise();
  }

  private async drain(queue: Queue<DeliveriesJob>): Promise<void> {
    const asked = stopAsking(queue, LOOPS);
    // A loop that waits for a job waits for ever while Redis is away.
    const patience = this.underWay.idle().then(() => sleep(LAST_JOB_MS, undefined, { ref: false }));
    await Promise.race([asked, patience]);
    await this.underWay.idle();
  }

  private async consume(queue: Queue<DeliveriesJob>): Promise<void> {
    try {
      await prepareToConsume(queue);
      await queue.process(JOB_NAME, LOOPS, (job) => this.begin(job.data));
    } catch (error) {
      this.log.error({ err: error }, 'a queue is not consumed any more');
    }
  }

  /**
   * Resolves when each has a slot. From then on they are no business of the queue: PostgreSQL has
   * them, and one that is slow must not keep the job, and with it the others of its loop.
   */
  private async begin(data: unknown): Promise<void> {
    const { jobs, malformed } = jobsOf(data);
    if (malformed > 0) this.malformed.inc(malformed);
    await Promise.all(jobs.map((job) => this.beginOne(job)));
  }

  private async beginOne(job: DeliveryJob): Promise<void> {
    await this.runner.slots.enter();
    void this.underWay
      .run(job.id, () => this.runner.runJob(job))
      .then((result) => {
        this.due.follow(result);
        if (result && 'delivery' in result && result.delivery.subscription.backlog) {
          this.due.othersWait(result.delivery);
        }
      });
  }
}
