import type { JobOptions, Queue } from 'bull';
import { isUuid } from '#libs/kernel';
import { type RedisConnection, refusalOf, type SpanStart } from '#libs/runtime';
import type { DeliveryJob } from './domain/delivery-queue.js';

/** Injection token of the Bull queues, one for each shard, in order. */
export const DELIVERY_QUEUES = Symbol('DeliveryQueues');

/** The only kind of job: one attempt for each of its deliveries. */
const JOB_NAME = 'deliver';

/**
 * The id of a job names its deliveries with their leases, so that a worker knows them when Redis hands it over. The job
 * has no data.
 */
export function jobIdOf(deliveries: readonly DeliveryJob[]): string {
  return deliveries.map(({ id, lease }) => `${id}.${String(lease)}`).join();
}

/** The valid deliveries of a job. Another release or program may have added malformed ones. */
export function jobsOf(jobId: string): { jobs: DeliveryJob[]; malformed: number } {
  const named = jobId.split(',');
  const jobs = named.flatMap((name) => {
    const [, id, lease] = /^([^.]*)\.(\d{1,9})$/.exec(name) ?? [];
    return id !== undefined && isUuid(id) ? { id, lease: Number(lease) } : [];
  });
  return { jobs, malformed: named.length - jobs.length };
}

/** Most deliveries in a job. They share the job's cost in Redis and Bull. */
export const MAX_PER_JOB = 10;

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

export function queueName(shard: number): string {
  return `deliveries-${String(shard)}`;
}

/** Prefix of a shard's keys. The braces keep them on one node of a Redis Cluster. */
function queuePrefix(shard: number): string {
  return `{switchhook:${String(shard)}}`;
}

/** Bull's options for queues of a shard. */
export function queueOptions(shard: number, createClient: () => RedisConnection) {
  return {
    prefix: queuePrefix(shard),
    createClient,
    // The check sends INFO, which would block a queue that starts while Redis is down.
    skipVersionCheck: true,
  };
}

/** Adds a job. @throws the error of Redis or of its connection */
export async function addJob(queue: Queue, jobId: string, options: JobOptions = {}): Promise<void> {
  try {
    await queue.add(JOB_NAME, {}, { ...options, jobId });
  } catch (error) {
    // Bull also publishes that it has added a job, for which users of Redis may lack the right. Nothing subscribes to it.
    if (!(refusalOf(error) && /\bchannel\b/.test((error as Error).message))) throw error;
  }
}

/** The shard of a subscription. Ids are sequential, so the remainder distributes them evenly. */
export function shardOf(webhookId: string, shards: number): number {
  return shards === 1 ? 0 : Number(BigInt(webhookId) % BigInt(shards));
}
