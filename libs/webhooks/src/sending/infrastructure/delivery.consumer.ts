import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Queue } from 'bull';
import { CONFIG, type Config, connectRedis, Metrics } from '#libs/runtime';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import { DeliveryRunner } from '../domain/delivery-runner.js';
import { DeliveriesUnderWay } from './deliveries-under-way.js';
import {
  type DeliveriesJob,
  DELIVERY_QUEUES,
  jobsOf,
} from '../../queue/infrastructure/delivery-queues.js';
import { DueDeliveries } from './due-deliveries.js';
import { JobLoops } from './job-loops.js';

/** Time limit of a shutdown. Deliveries still under way then are due when their leases end. */
const DRAIN_MS = 23_000;

/** Consumes the Bull queues of all shards. */
@Injectable()
export class DeliveryConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly malformed;
  private readonly loops: readonly JobLoops[];

  constructor(
    @Inject(DELIVERY_QUEUES) queues: readonly Queue<DeliveriesJob>[],
    @Inject(CONFIG) config: Config,
    private readonly runner: DeliveryRunner,
    private readonly due: DueDeliveries,
    private readonly underWay: DeliveriesUnderWay,
    metrics: Metrics,
  ) {
    this.malformed = metrics.counter(
      'switchhook_malformed_jobs_total',
      'Deliveries in queue jobs that have a format unknown to this version.',
    );
    const begin = (data: unknown) => this.begin(data);
    this.loops = queues.map(
      (queue) => new JobLoops(queue, connectRedis(config, 'blocking'), begin),
    );
  }

  onApplicationBootstrap(): void {
    for (const loops of this.loops) loops.start();
  }

  /** On SIGTERM: starts no new calls, finishes those under way, releases deliveries that still arrive. */
  async beforeApplicationShutdown(): Promise<void> {
    this.runner.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([this.drain(), late]);
    clearTimeout(timer);
    await this.underWay.finish();
  }

  private async drain(): Promise<void> {
    await Promise.allSettled([this.due.stop(), ...this.loops.map((loops) => loops.stop())]);
    await this.underWay.idle();
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
    const entry = await this.runner.slots.enter();
    void this.underWay
      .run(job.id, () => this.runner.runJob(job, entry))
      .then((result) => {
        this.due.follow(result);
        if (result && 'delivery' in result && result.delivery.subscription.backlog) {
          this.due.othersWait(result.delivery);
        }
      });
  }
}
