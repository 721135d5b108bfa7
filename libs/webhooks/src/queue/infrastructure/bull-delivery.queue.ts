import { Inject, Injectable } from '@nestjs/common';
import type { JobOptions, Queue } from 'bull';
import { Log, Metrics, OutageLog, type RedisConnection } from '#libs/runtime';
import { DeliveryQueue, type QueuedDelivery } from '../domain/delivery-queue.js';
import {
  type DeliveriesJob,
  DELIVERY_QUEUES,
  JOB_NAME,
  MAX_PER_JOB,
  shardOf,
} from './delivery-queues.js';

/** Limit of deliveries being added at once: beyond it, Redis is too slow for more. */
const MAX_ADDING = 20_000;
/** Limit of deliveries in the queues: more would delay later ones and use more memory in Redis. */
const MAX_QUEUED = 5_000;
/** Higher limit for immediate deliveries. */
const MAX_QUEUED_IMMEDIATE = 2 * MAX_QUEUED;
/** How long a count from Redis is used, in ms. */
const FILL_AGE_MS = 200;

/** Why a connection is lost without an error: the server stops, for example. */
const CLOSED = new Error('the connection was closed');

const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };
const IMMEDIATE_JOB_OPTIONS = { ...JOB_OPTIONS, lifo: true };

type Bulk = { name: string; data: DeliveriesJob; opts: JobOptions }[];

/** The Bull queues, one for each shard. */
@Injectable()
export class BullDeliveryQueue extends DeliveryQueue {
  /** Deliveries that are being added. */
  private adding = 0;
  /** Estimate of deliveries in the queues: every job counts as full. */
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
    // Errors of a queue's connection are only counted here; add() handles its own.
    const errors = metrics.counter(
      'switchhook_redis_errors_total',
      'Errors of Redis connections and queue commands.',
    );
    for (const queue of queues) queue.on('error', () => errors.inc());
    // Bull connects on first access to its client. Connect now, before the first event arrives.
    this.clients = queues.map((queue) => queue.client);
    const outages = new OutageLog('Redis', log);
    for (const client of this.clients) {
      let cause = CLOSED;
      client.on('error', (error: Error & { lastNodeError?: Error }) => {
        // A cluster's own error only says that no node has answered.
        cause = error.lastNodeError ?? error;
      });
      client.on('reconnecting', () => outages.away(cause));
      client.on('ready', () => {
        cause = CLOSED;
        if (this.isConnected()) outages.back();
      });
    }
  }

  hasRoom({ immediate } = { immediate: false }): boolean {
    void this.refreshFill();
    return (
      this.isConnected() &&
      this.adding < MAX_ADDING &&
      this.fill + this.adding < (immediate ? MAX_QUEUED_IMMEDIATE : MAX_QUEUED)
    );
  }

  async add(deliveries: readonly QueuedDelivery[]): Promise<void> {
    if (deliveries.length === 0 || !this.isConnected() || this.adding > MAX_ADDING) return;
    this.adding += deliveries.length;
    try {
      const bulks = this.bulksOf(deliveries);
      await Promise.all(bulks.map(([queue, bulk]) => addTo(queue, bulk)));
      for (const [, bulk] of bulks) this.fill += bulk.length * MAX_PER_JOB;
    } catch {
      // The deliveries are due when their leases end.
    } finally {
      this.adding -= deliveries.length;
    }
  }

  /** Waiting and active jobs of each shard; undefined while Redis is away. */
  async jobsByShard(): Promise<{ waiting: number; active: number }[] | undefined> {
    if (!this.isConnected()) return undefined;
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    return counts.map(({ waiting, active }) => ({ waiting, active }));
  }

  /** Waiting and active jobs in all shards. @throws if Redis is down */
  async jobs(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCounts()));
    const jobs = counts.reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    this.fill = jobs * MAX_PER_JOB;
    this.fillAt = performance.now();
    return jobs;
  }

  /** Groups deliveries by queue, in the given order, into as few jobs as possible. */
  private bulksOf(deliveries: readonly QueuedDelivery[]): [Queue<DeliveriesJob>, Bulk][] {
    const bulks = new Map<Queue<DeliveriesJob>, Bulk>();
    for (const { id, lease, webhookId, immediate } of deliveries) {
      const queue = this.queues[shardOf(webhookId, this.queues.length)]!;
      const opts = immediate === true ? IMMEDIATE_JOB_OPTIONS : JOB_OPTIONS;
      const bulk = bulks.get(queue) ?? [];
      bulks.set(queue, bulk);
      const last = bulk.at(-1);
      if (last?.opts === opts && last.data.deliveries.length < MAX_PER_JOB) {
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
      // isConnected() covers outages, and the next caller retries because the count stays outdated.
    } finally {
      this.asking = false;
    }
  }
}

/** A single job, which is usual under light load, needs no transaction. */
async function addTo(queue: Queue<DeliveriesJob>, bulk: Bulk): Promise<void> {
  const [job] = bulk;
  if (job && bulk.length === 1) await queue.add(job.name, job.data, job.opts);
  else await queue.addBulk(bulk);
}
