import { Inject, Injectable } from '@nestjs/common';
import type { JobOptions, Queue } from 'bull';
import { Log, Metrics, OutageLog, type RedisConnection } from '#libs/runtime';
import { DeliveryQueue, type QueuedDelivery } from '../domain/delivery-queue.js';
import {
  type DeliveriesJob,
  DELIVERY_QUEUES,
  JOB_NAME,
  MAX_TOGETHER,
  shardOf,
} from './delivery-queues.js';

/** Deliveries being added at once; beyond that, Redis is too slow to be given more. */
const MAX_UNDER_WAY = 20_000;
/** Deliveries in the queues: more would make what comes next wait, and Redis grow. */
const MOST = 5_000;
/** Tests find room where others do not: but they have a bound too. */
const MOST_WITH_TESTS = 2 * MOST;
/** How long the count that Redis told is used, in ms. */
const FILL_AGE_MS = 200;

const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
const IMMEDIATE_JOB_OPTIONS = { ...JOB_OPTIONS, lifo: true };

type Bulk = { name: string; data: DeliveriesJob; opts: JobOptions }[];

/** The Bull queues, one a shard. */
@Injectable()
export class BullDeliveryQueue extends DeliveryQueue {
  /** Deliveries that are being added. */
  private underWay = 0;
  /** Deliveries in the queues, if every job has as many as it may. */
  private fill = 0;
  private fillAt = -Infinity;
  private asking = false;
  private readonly clients: readonly RedisConnection[];

  constructor(
    @Inject(DELIVERY_QUEUES) private readonly queues: readonly Queue<DeliveriesJob>[],
    metrics: Metrics,
    log: Log,
  ) {
    super();
    // A queue reports its connection's errors; add() notices them by itself.
    const errors = metrics.counter(
      'switchhook_redis_errors_total',
      'Errors of the connections to Redis and of commands to the queues.',
    );
    for (const queue of queues) queue.on('error', () => errors.inc());
    // Bull connects when its client is first asked for; the first event should find it connected.
    this.clients = queues.map((queue) => queue.client);
    const outages = new OutageLog('Redis', log);
    for (const client of this.clients) {
      client.on('reconnecting', () => outages.away());
      client.on('ready', () => {
        if (this.isConnected()) outages.back();
      });
    }
  }

  hasRoom({ immediate } = { immediate: false }): boolean {
    void this.refreshFill();
    return (
      this.isConnected() &&
      this.underWay < MAX_UNDER_WAY &&
      this.fill + this.underWay < (immediate ? MOST_WITH_TESTS : MOST)
    );
  }

  async add(deliveries: readonly QueuedDelivery[]): Promise<void> {
    if (deliveries.length === 0 || !this.isConnected() || this.underWay > MAX_UNDER_WAY) return;
    this.underWay += deliveries.length;
    try {
      const bulks = this.bulksOf(deliveries);
      await Promise.all(bulks.map(([queue, bulk]) => addTo(queue, bulk)));
      for (const [, bulk] of bulks) this.fill += bulk.length * MAX_TOGETHER;
    } catch {
      // They are due when their leases end.
    } finally {
      this.underWay -= deliveries.length;
    }
  }

  /** Jobs in all shards together, waiting and active. @throws when Redis is away */
  async jobs(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    const jobs = counts.reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    this.fill = jobs * MAX_TOGETHER;
    this.fillAt = performance.now();
    return jobs;
  }

  /** By queue, in the order in which they come, as many in a job as may be. */
  private bulksOf(deliveries: readonly QueuedDelivery[]): [Queue<DeliveriesJob>, Bulk][] {
    const bulks = new Map<Queue<DeliveriesJob>, Bulk>();
    for (const { id, lease, webhookId, immediate } of deliveries) {
      const queue = this.queues[shardOf(webhookId, this.queues.length)]!;
      const opts = immediate === true ? IMMEDIATE_JOB_OPTIONS : JOB_OPTIONS;
      const bulk = bulks.get(queue) ?? [];
      bulks.set(queue, bulk);
      const last = bulk.at(-1);
      if (last?.opts === opts && last.data.deliveries.length < MAX_TOGETHER) {
        last.data.deliveries.push({ id, lease });
      } else bulk.push({ name: JOB_NAME, data: { deliveries: [{ id, lease }] }, opts });
    }
    return [...bulks];
  }

  private isConnected(): boolean {
    return this.clients.every(({ status }) => status === 'ready');
  }

  private async refreshFill(): Promise<void> {
    if (this.asking || performance.now() - this.fillAt < FILL_AGE_MS || !this.isConnected()) return;
    this.asking = true;
    try {
      await this.jobs();
    } catch {
      // isConnected() will tell; the age of the fill makes the next caller ask again.
    } finally {
      this.asking = false;
    }
  }
}

/** A single job, which is what comes at light load, needs no transaction. */
async function addTo(queue: Queue<DeliveriesJob>, bulk: Bulk): Promise<void> {
  const [job] = bulk;
  if (job && bulk.length === 1) await queue.add(job.name, job.data, job.opts);
  else await queue.addBulk(bulk);
}
