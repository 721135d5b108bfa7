import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Queue } from 'bull';
import { CONFIG, type Config, connectRedis, Metrics, type RedisConnection } from '#libs/runtime';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import { DeliveryRunner } from '../domain/delivery-runner.js';
import { DeliverySlots } from '../domain/delivery-slots.js';
import { DeliveriesInFlight } from './deliveries-in-flight.js';
import { DELIVERY_QUEUES, jobsOf } from '../../queue/delivery-queues.js';
import { JobTaker } from '../../queue/job-taker.js';
import { DueDeliveries } from './due-deliveries.js';

/**
 * Most jobs that a worker takes or removes at once. Enough to share the round trip to Redis, but few, because another
 * worker could send the deliveries for which this one has no slots.
 */
const MAX_TAKEN = 8;
/** How long a job stays in Redis after it was taken, at most. */
const REMOVE_MS = 100;
/** How long Redis waits for a job before it answers that there is none. */
const WAIT_S = 5;
/** How soon it tries again after an error or without a connection. */
const RETRY_MS = 500;
/** A job this old in the list `active` was left by a worker that died. PostgreSQL has its deliveries. */
const ABANDONED_MS = 60_000;
/** Often enough to notice a dead connection before a job needs it. */
const CLEAN_MS = 5_000;
/** Time limit of a shutdown. Deliveries still in flight then are due when their leases end. */
const DRAIN_MS = 23_000;

/** Consumes the Bull queues of all shards. */
@Injectable()
export class DeliveryConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly malformed;
  private readonly loops: readonly JobLoop[];

  constructor(
    @Inject(DELIVERY_QUEUES) queues: readonly Queue[],
    @Inject(CONFIG) config: Config,
    private readonly slots: DeliverySlots,
    private readonly runner: DeliveryRunner,
    private readonly inFlight: DeliveriesInFlight,
    private readonly due: DueDeliveries,
    metrics: Metrics,
  ) {
    this.malformed = metrics.counter(
      'switchhook_malformed_jobs_total',
      'Deliveries in queue jobs whose format this version does not know.',
    );
    const begin = (jobId: string) => this.begin(jobId);
    this.loops = queues.map((queue) => new JobLoop(queue, connectRedis(config, 'blocking'), begin));
  }

  onApplicationBootstrap(): void {
    for (const loop of this.loops) loop.start();
  }

  /** On SIGTERM: starts no new calls, finishes those in flight, releases deliveries that still arrive. */
  async beforeApplicationShutdown(): Promise<void> {
    this.slots.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([this.drain(), late]);
    clearTimeout(timer);
    await this.inFlight.finish();
  }

  private async drain(): Promise<void> {
    await Promise.allSettled([this.due.stop(), ...this.loops.map((loop) => loop.stop())]);
    await this.inFlight.idle();
  }

  /**
   * Resolves when each delivery has a slot: a slow delivery must not block the loop, but this worker must not take
   * more than it can start.
   */
  private async begin(jobId: string): Promise<void> {
    const { jobs, malformed } = jobsOf(jobId);
    if (malformed > 0) this.malformed.inc(malformed);
    await Promise.all(jobs.map((job) => this.beginOne(job)));
  }

  private async beginOne(job: DeliveryJob): Promise<void> {
    const slot = await this.slots.reserve();
    void this.inFlight
      .run(job.id, () => this.runner.runJob(job, slot))
      .then((result) => {
        this.due.addRetry(result);
        if (result && 'delivery' in result && result.delivery.subscription.backlog) {
          this.due.addBacklog(result.delivery);
        }
      });
  }
}

/** Takes jobs from a queue until it is stopped, and removes what workers that died left. */
export class JobLoop {
  private loop: Promise<unknown> = Promise.resolve();
  private cleaning: NodeJS.Timeout | undefined;
  private removing: NodeJS.Timeout | undefined;
  /** Whether more than one job waited the last time. At the start, many may wait. */
  private isBusy = true;
  private stopping = false;
  private readonly taker: JobTaker;

  /**
   * @param blocking a connection of the kind `blocking`, which {@link stop} closes
   * @param handle gets the id of a job; must not throw. More jobs are taken when it resolves
   */
  constructor(
    private readonly queue: Queue,
    private readonly blocking: RedisConnection,
    private readonly handle: (jobId: string) => Promise<void>,
  ) {
    blocking.on('error', (error) => queue.emit('error', error));
    this.taker = new JobTaker(queue, blocking);
  }

  start(): void {
    this.loop = this.run();
    // A failure reaches the queue's listener for errors.
    const clean = () => void this.queue.clean(ABANDONED_MS, 'active').catch(() => undefined);
    this.cleaning = setInterval(clean, CLEAN_MS);
  }

  /** Takes no more jobs. Resolves when those that Redis handed over until now are handled. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.cleaning);
    clearTimeout(this.removing);
    this.blocking.disconnect();
    await this.loop;
    // If that fails, another worker cleans up.
    await this.taker.takeMore(0).catch(() => undefined);
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      if (this.taker.isConnected)
        await this.handleSome().catch((error: unknown) => this.failed(error));
      else await sleep(RETRY_MS);
    }
  }

  private async failed(error: unknown): Promise<void> {
    // stop() ends the command that waits for a job.
    if (this.stopping) return;
    this.queue.emit('error', error);
    await sleep(RETRY_MS);
  }

  /** Waits for a job, and takes others that wait with it if there were some the last time. */
  private async handleSome(): Promise<void> {
    const first = await this.taker.next(WAIT_S);
    if (first === undefined) return;
    const jobs = [first];
    if (this.isBusy || this.taker.activeCount >= MAX_TAKEN) {
      const more = await this.takeMore();
      this.isBusy = more.length > 0;
      jobs.push(...more);
    } else this.removeSoon();
    // Together, so that they share the statement that loads them.
    await Promise.all(jobs.map((id) => this.handle(id)));
  }

  /** A failure does not keep the job that Redis has handed over from being handled. */
  private takeMore(): Promise<string[]> {
    return this.taker.takeMore(this.stopping ? 0 : MAX_TAKEN - 1).catch((error: unknown) => {
      this.queue.emit('error', error);
      return [];
    });
  }

  private removeSoon(): void {
    this.removing ??= setTimeout(() => {
      this.removing = undefined;
      this.taker.takeMore(0).catch((error: unknown) => this.queue.emit('error', error));
    }, REMOVE_MS);
  }
}
