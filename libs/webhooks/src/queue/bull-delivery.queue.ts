import { Inject, Injectable } from '@nestjs/common';
import type { JobOptions, Queue } from 'bull';
import { CONFIG, type Config, Database, isUndone } from '#libs/runtime';
import { byDay } from '../partitions/partition-days.js';
import { type DeliveryJob, DeliveryQueue, type QueuedDelivery } from './domain/delivery-queue.js';
import { addJob, DELIVERY_QUEUES, jobIdOf, MAX_PER_JOB, shardOf } from './delivery-queues.js';
import { QueueAvailability } from './infrastructure/queue-availability.js';
import { RELEASE, releasesOf } from './leases.statements.js';

/** Limit of deliveries being added at once: beyond it, Redis is too slow for more. */
const MAX_ADDING = 20_000;
/** Limit of deliveries in the queues: more would delay later ones and use more memory in Redis. */
const MAX_QUEUED = 5_000;
/** Higher limit for immediate deliveries. */
const MAX_QUEUED_IMMEDIATE = 2 * MAX_QUEUED;
/** How long a count from Redis is used, in ms. */
const FILL_AGE_MS = 200;

const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
const IMMEDIATE_JOB_OPTIONS = { ...JOB_OPTIONS, lifo: true };

/** A job, and the queue onto which it goes. */
interface NewJob {
  queue: Queue;
  deliveries: DeliveryJob[];
  options: JobOptions;
}

/** The Bull queues, one for each shard. */
@Injectable()
export class BullDeliveryQueue extends DeliveryQueue {
  /** Deliveries that are being added. */
  private adding = 0;
  /** Estimate of deliveries in the queues: every job counts as full. */
  private fill = 0;
  private fillAt = -Infinity;
  private asking = false;

  constructor(
    @Inject(DELIVERY_QUEUES) private readonly queues: readonly Queue[],
    private readonly redis: QueueAvailability,
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'DELIVERY_TIMEOUT_MS'>,
  ) {
    super();
  }

  hasRoom({ immediate } = { immediate: false }): boolean {
    void this.refreshFill();
    const limit = immediate ? MAX_QUEUED_IMMEDIATE : MAX_QUEUED;
    return this.isOpen && this.fill + this.adding < limit;
  }

  async add(deliveries: readonly QueuedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const left = this.isOpen ? await this.addAll(deliveries) : deliveries;
    // If that fails, they are due when their leases end.
    if (left.length > 0) await this.release(left).catch(() => undefined);
  }

  /** Waiting and active jobs of each shard; undefined while Redis is away. */
  async jobsByShard(): Promise<{ waiting: number; active: number }[] | undefined> {
    if (!this.redis.isUp) return undefined;
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    return counts.map(({ waiting, active }) => ({ waiting, active }));
  }

  /** Waiting and active jobs in all shards. @throws if Redis is down */
  async jobs(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    const sumOf = (state: 'waiting' | 'active') =>
      counts.reduce((sum, count) => sum + count[state], 0);
    this.fill = sumOf('waiting') * MAX_PER_JOB;
    this.fillAt = performance.now();
    return sumOf('waiting') + sumOf('active');
  }

  private get isOpen(): boolean {
    return this.redis.isUp && this.adding < MAX_ADDING;
  }

  /** @returns deliveries that are certainly on no queue. After a lost connection, that is unknown. */
  private async addAll(deliveries: readonly QueuedDelivery[]): Promise<DeliveryJob[]> {
    this.adding += deliveries.length;
    try {
      return (await Promise.all(this.jobsOf(deliveries).map((job) => this.addOne(job)))).flat();
    } finally {
      this.adding -= deliveries.length;
    }
  }

  private async addOne({ queue, deliveries, options }: NewJob): Promise<DeliveryJob[]> {
    try {
      await addJob(queue, jobIdOf(deliveries), options);
    } catch (error) {
      this.redis.failed(error);
      return isUndone(error) ? deliveries : [];
    }
    this.fill += MAX_PER_JOB;
    return [];
  }

  /** Has workers claim deliveries from PostgreSQL. */
  private async release(deliveries: readonly DeliveryJob[]): Promise<void> {
    for (const [day, ofDay] of byDay(deliveries, ({ id }) => id)) {
      await this.database.run(RELEASE(day), releasesOf(ofDay, this.config.DELIVERY_TIMEOUT_MS));
    }
  }

  /** Groups deliveries by queue, in the given order, into as few jobs as possible. */
  private jobsOf(deliveries: readonly QueuedDelivery[]): NewJob[] {
    const jobs: NewJob[] = [];
    const last = new Map<Queue, NewJob>();
    for (const { id, lease, webhookId, immediate } of deliveries) {
      const queue = this.queues[shardOf(webhookId, this.queues.length)]!;
      const options = immediate === true ? IMMEDIATE_JOB_OPTIONS : JOB_OPTIONS;
      let job = last.get(queue);
      if (job?.options !== options || job.deliveries.length >= MAX_PER_JOB) {
        job = { queue, deliveries: [], options };
        jobs.push(job);
        last.set(queue, job);
      }
      job.deliveries.push({ id, lease });
    }
    return jobs;
  }

  private async refreshFill(): Promise<void> {
    if (this.asking || performance.now() - this.fillAt < FILL_AGE_MS || !this.redis.isUp) return;
    this.asking = true;
    try {
      await this.jobs();
    } catch (error) {
      this.redis.failed(error);
    } finally {
      this.asking = false;
    }
  }
}
