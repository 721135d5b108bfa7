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

/** Time limit of a shutdown. Deliveries still under way then are due when their leases end. */
const DRAIN_MS = 23_000;
/** How long a stopping worker with nothing under way waits for last jobs from Redis. */
const LAST_JOB_MS = 1_000;

/**
 * Jobs of a queue that a worker handles at once. Enough to hide the round trip to Redis, but few, because
 * another worker could send the deliveries for which this one has no slots.
 */
const LOOPS = 8;

/** Consumes the Bull queues of all shards. */
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
      'Deliveries in queue jobs that have a format unknown to this version.',
    );
  }

  onApplicationBootstrap(): void {
    for (const queue of this.queues) void this.consume(queue);
  }

  /** On SIGTERM: starts no new calls, finishes those under way, releases deliveries that still arrive. */
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
    // A loop that waits for a job never returns while Redis is down.
    const givenUp = this.underWay.idle().then(() => sleep(LAST_JOB_MS, undefined, { ref: false }));
    await Promise.race([asked, givenUp]);
    await this.underWay.idle();
  }

  private async consume(queue: Queue<DeliveriesJob>): Promise<void> {
    try {
      await prepareToConsume(queue);
      await queue.process(JOB_NAME, LOOPS, (job) => this.begin(job.data));
    } catch (error) {
      this.log.error({ err: error }, 'queue consumer stopped');
    }
  }

  /**
   * Resolves when each delivery has a slot. From then on PostgreSQL tracks them, and the job can end: a
   * slow delivery must not block its loop.
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
