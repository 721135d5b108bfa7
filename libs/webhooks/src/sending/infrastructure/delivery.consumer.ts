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
import {
  type DeliveriesJob,
  DELIVERY_QUEUES,
  jobsOf,
} from '../../queue/infrastructure/delivery-queues.js';
import { DueDeliveries } from './due-deliveries.js';

/**
 * Jobs of a queue that a worker handles at once. Enough to hide the round trip to Redis, but few, because
 * another worker could send the deliveries for which this one has no slots.
 */
const LOOPS = 8;
/** How long Redis waits for a job before it answers that there is none. */
const WAIT_S = 5;
/** How soon a loop tries again after an error or without a connection. */
const RETRY_MS = 500;
/** An unlocked job this old was left by a worker that died. PostgreSQL has its deliveries. */
const ABANDONED_MS = 60_000;
/** Often enough to notice a dead connection before a job needs it. */
const CLEAN_MS = 5_000;
/** Time limit of a shutdown. Deliveries still in flight then are due when their leases end. */
const DRAIN_MS = 23_000;

/** Consumes the Bull queues of all shards. */
@Injectable()
export class DeliveryConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly malformed;
  private readonly loops: readonly JobLoops[];

  constructor(
    @Inject(DELIVERY_QUEUES) queues: readonly Queue<DeliveriesJob>[],
    @Inject(CONFIG) config: Config,
    private readonly slots: DeliverySlots,
    private readonly runner: DeliveryRunner,
    private readonly inFlight: DeliveriesInFlight,
    private readonly due: DueDeliveries,
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
    await Promise.allSettled([this.due.stop(), ...this.loops.map((loops) => loops.stop())]);
    await this.inFlight.idle();
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

/**
 * Handles the jobs of a queue. Bull's `process()` would lose jobs that Redis hands over while a worker stops
 * or reconnects, and would hang when it stops without Redis.
 *
 * Like Bull, it moves a job from the list `wait` to the list `active`, but it waits on a connection of its own, which
 * it can close at any time. Locks last 30 s and are not renewed. If a job waits longer for slots, its deliveries are
 * still sent; ending the job fails, which is counted, and `clean` deletes it.
 */
export class JobLoops {
  private loops: Promise<unknown> = Promise.resolve();
  private cleaning: NodeJS.Timeout | undefined;
  private stopping = false;

  /**
   * @param blocking a connection of the kind `blocking`, which {@link stop} closes
   * @param handle must not throw; the job ends when it resolves
   */
  constructor(
    private readonly queue: Queue<unknown>,
    private readonly blocking: RedisConnection,
    private readonly handle: (data: unknown) => Promise<void>,
  ) {
    blocking.on('error', (error) => queue.emit('error', error));
  }

  start(): void {
    this.loops = Promise.all(Array.from({ length: LOOPS }, () => this.loop()));
    // A failure reaches the queue's listener for errors.
    const clean = () => void this.queue.clean(ABANDONED_MS, 'active').catch(() => undefined);
    this.cleaning = setInterval(clean, CLEAN_MS);
  }

  /** Takes no more jobs. Resolves when those that Redis handed over until now are handled. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.cleaning);
    this.blocking.disconnect();
    await this.loops;
  }

  private async loop(): Promise<void> {
    while (!this.stopping) {
      // A job needs both connections, and each one reconnects in its own time.
      if (this.isConnected()) await this.handleSome().catch((error: unknown) => this.failed(error));
      else await sleep(RETRY_MS);
    }
  }

  private async failed(error: unknown): Promise<void> {
    // stop() ends the commands that wait for jobs.
    if (this.stopping) return;
    this.queue.emit('error', error);
    await sleep(RETRY_MS);
  }

  private isConnected(): boolean {
    return [this.queue.client, this.blocking].every(({ status }) => status === 'ready');
  }

  /** Waits for a job and handles it, then each next job that Redis hands over when one ends. */
  private async handleSome(): Promise<void> {
    const [wait, active] = [this.queue.toKey('wait'), this.queue.toKey('active')];
    const id = await this.blocking.brpoplpush(wait, active, WAIT_S);
    const job = id === null ? null : await this.queue.getJob(id);
    if (!job) return;
    // Another program may have added it without this option.
    job.opts.removeOnComplete = true;
    // Only a job that Redis hands over at the end of another one is locked.
    for (let isLocked = false; ; isLocked = true) {
      await this.handle(job.data);
      const next = await job.moveToCompleted(undefined, !isLocked, this.stopping);
      if (!next) return;
      // A new job object would parse much more than the data.
      const [{ data }, nextId] = next as [{ data: string }, string];
      Object.assign(job, { id: nextId, data: JSON.parse(data) as unknown });
    }
  }
}
