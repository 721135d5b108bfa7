import { Inject, Injectable } from '@nestjs/common';
import type { JobOptions, Queue } from 'bull';
import { CONFIG, type Config, Log, Metrics, Presence, type RedisConnection } from '#libs/kernel';
import type { DeliveryJob } from '../domain/delivery.js';
import { DeliveryQueue, type QueuedDelivery } from '../domain/delivery-queue.js';
import { DELIVERY_QUEUES, JOB_NAME, shardOf } from './delivery-queues.js';

/** Jobs being added at once; beyond that, Redis is too slow to be given more. */
const MAX_UNDER_WAY = 20_000;
/** A full window takes as many again of those that do not wait: what is immediate has a bound too. */
const IMMEDIATE_WINDOWS = 2;
/** How long the fill that Redis told counts, in ms. */
const FILL_AGE_MS = 200;

const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
const IMMEDIATE_JOB_OPTIONS = { ...JOB_OPTIONS, lifo: true };

/** The Bull queues, one a shard. */
@Injectable()
export class BullDeliveryQueue extends DeliveryQueue {
  private underWay = 0;
  private fill = 0;
  private fillAt = -Infinity;
  private asking = false;
  private readonly clients: readonly RedisConnection[];

  constructor(
    @Inject(DELIVERY_QUEUES) private readonly queues: readonly Queue<DeliveryJob>[],
    metrics: Metrics,
    log: Log,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super();
    // A queue reports its connection's errors; add() and the feeder notice them by themselves.
    const errors = metrics.counter(
      'switchhook_redis_errors_total',
      'Errors of the connections to Redis and of commands to the queues.',
    );
    for (const queue of queues) queue.on('error', () => errors.inc());
    // Bull connects when its client is first asked for; the first event should find it connected.
    this.clients = queues.map((queue) => queue.client);
    const presence = new Presence('Redis', log);
    for (const client of this.clients) {
      client.on('reconnecting', () => presence.away());
      client.on('ready', () => {
        if (this.isConnected()) presence.back();
      });
    }
  }

  hasRoom({ immediate } = { immediate: false }): boolean {
    void this.refreshFill();
    return (
      this.isConnected() &&
      this.underWay < MAX_UNDER_WAY &&
      this.fill + this.underWay < this.config.QUEUE_WINDOW * (immediate ? IMMEDIATE_WINDOWS : 1)
    );
  }

  async add(jobs: readonly QueuedDelivery[]): Promise<void> {
    if (jobs.length === 0 || !this.isConnected() || this.underWay > MAX_UNDER_WAY) return;
    this.underWay += jobs.length;
    try {
      await Promise.all(this.byShard(jobs).map(([queue, bulk]) => queue.addBulk(bulk)));
      this.fill += jobs.length;
    } catch {
      // Their claims end, and the feeder brings them in again.
    } finally {
      this.underWay -= jobs.length;
    }
  }

  /**
   * How many jobs may come in now, in all shards together.
   * @throws when Redis is away
   */
  async room(): Promise<number> {
    await this.jobs();
    return Math.max(0, this.config.QUEUE_WINDOW - this.fill - this.underWay);
  }

  /** Jobs in all shards together, waiting and active. @throws when Redis is away */
  async jobs(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    this.fill = counts.reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    this.fillAt = performance.now();
    return this.fill;
  }

  private byShard(jobs: readonly QueuedDelivery[]) {
    const groups = new Map<
      Queue<DeliveryJob>,
      { name: string; data: DeliveryJob; opts: JobOptions }[]
    >();
    for (const { id, attempt, webhookId, immediate } of jobs) {
      const queue = this.queues[shardOf(webhookId, this.queues.length)] as Queue<DeliveryJob>;
      const group = groups.get(queue) ?? [];
      const opts = immediate === true ? IMMEDIATE_JOB_OPTIONS : JOB_OPTIONS;
      group.push({ name: JOB_NAME, data: { id, attempt }, opts });
      groups.set(queue, group);
    }
    return [...groups];
  }

  private isConnected(): boolean {
    return this.clients.every(({ status }) => status === 'ready');
  }

  private async refreshFill(): Promise<void> {
    if (this.asking || performance.now() - this.fillAt < FILL_AGE_MS || !this.isConnected()) return;
    this.asking = true;
    try {
      await this.room();
    } catch {
      // isConnected() will tell; the age of the fill makes the next caller ask again.
    } finally {
      this.asking = false;
    }
  }
}
