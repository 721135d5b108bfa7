import { isUuid } from '#libs/kernel';
import type { SpanStart } from '#libs/runtime';
import type { DeliveryJob } from '../domain/delivery.js';

/** Injection token of the Bull queues, one a shard, in order. */
export const DELIVERY_QUEUES = Symbol('DeliveryQueues');

/** The one kind of job: attempts of deliveries, one of each. */
export const JOB_NAME = 'deliver';

/** What a job carries. */
export interface DeliveriesJob {
  deliveries: DeliveryJob[];
}

/** The deliveries of a job, whatever it is: an older version, or somebody else, may have put it there. */
export function jobsOf(data: unknown): { jobs: DeliveryJob[]; malformed: number } {
  const { deliveries } = (data ?? {}) as { deliveries?: unknown };
  if (!Array.isArray(deliveries)) return { jobs: [], malformed: 1 };
  const jobs = deliveries.filter(isDeliveryJob);
  return { jobs, malformed: deliveries.length - jobs.length };
}

function isDeliveryJob(value: unknown): value is DeliveryJob {
  const { id, lease } = (value ?? {}) as { id?: unknown; lease?: unknown };
  return typeof id === 'string' && isUuid(id) && Number.isInteger(lease);
}

/** Deliveries in a job at the most: so many share what a job costs Redis and Bull. */
export const MAX_TOGETHER = 10;

const QUEUE = { 'messaging.system': 'bull', 'messaging.destination.name': 'deliveries' };

/** The span in which deliveries are stored and put onto the queue. */
export const PUBLISH_SPAN: SpanStart = {
  name: 'deliveries publish',
  kind: 'producer',
  attributes: { ...QUEUE, 'messaging.operation.type': 'send' },
};

/** The span in which a worker handles a job. */
export const PROCESS_SPAN: SpanStart = {
  name: 'deliveries process',
  kind: 'consumer',
  attributes: { ...QUEUE, 'messaging.operation.type': 'process' },
};

/** Name of the queue of a shard. */
export function queueName(shard: number): string {
  return `deliveries-${String(shard)}`;
}

/** Prefix of a shard's keys: the braces keep them on one node of a Redis Cluster. */
export function queuePrefix(shard: number): string {
  return `{switchhook:${String(shard)}}`;
}

/** The shard of a subscription. Ids are handed out one by one, so the remainder spreads them. */
export function shardOf(webhookId: string, shards: number): number {
  return shards === 1 ? 0 : Number(BigInt(webhookId) % BigInt(shards));
}
