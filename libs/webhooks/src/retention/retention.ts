import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  BackgroundTasks,
  Database,
  DELETE_EXPIRED_KEYS,
  type Given,
  type Statement,
} from '#libs/runtime';
import { DeliveryMetrics } from '../sending/delivery-metrics.js';
import {
  DAYS_BEYOND,
  DETACH,
  DETACHED,
  DROP,
  EXPIRE,
  FIND_PENDING,
  FORGET_COUNTS,
  FORGET_ERASURES,
  FORGET_LOADS,
  FORGET_LOSSES,
  FORGET_RECOVERIES,
  FORGET_REPLAYS,
  FORGET_WEBHOOKS,
  FREE_KEYS,
  OLD_PARTITIONS,
  type PartitionRow,
  type RemovalRow,
} from './retention.statements.js';

const OPTIONS = { everyMs: 300_000 };
const BATCH = 1_000;
const FORGETTING = [
  ...[DELETE_EXPIRED_KEYS, FORGET_REPLAYS, FORGET_RECOVERIES, FORGET_ERASURES],
  ...[FORGET_COUNTS, FORGET_LOADS, FORGET_LOSSES],
];

/** Another worker is removing data at the moment and does all the work. */
class OtherWorkerError extends Error {}

/**
 * Removes data older than `RETENTION_DAYS` of the last `migrate`, subscriptions deleted before that, and idempotency
 * keys that are no longer valid. Deliveries unfinished by then expire. A day later, the partitions of their day are
 * dropped, and the keys of its events are deleted. Runs in every worker. Each step determines what is left
 * to do, so a worker that finds another one at work leaves everything to it.
 */
@Injectable()
export class Retention {
  /** Tables that were already detached when this worker's last run ended. */
  private seenDetached = new Set<string>();
  private signal: AbortSignal | undefined;

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly metrics: DeliveryMetrics,
  ) {
    tasks.add('retention', OPTIONS, (signal) => this.run(signal));
  }

  async run(signal?: AbortSignal): Promise<void> {
    this.signal = signal;
    try {
      await this.removeAll();
    } catch (error) {
      if (!(error instanceof OtherWorkerError)) throw error;
    }
  }

  private async removeAll(): Promise<void> {
    for (const partition of await this.partitions(0)) {
      if (partition.parent === 'deliveries') await this.expire(partition);
    }
    for (const one of FORGETTING) {
      await this.inBatches(async () => {
        return (await this.database.run(one, { limit: BATCH })).length === BATCH;
      });
    }
    // Statements that still saw the partition before it was detached have ended by now.
    const gone = (await this.detached()).filter((name) => this.seenDetached.has(name));
    for (const name of gone) await this.remove(DROP, { name });
    await this.detachOld();
    this.seenDetached = new Set(await this.detached());
    // After the deliveries, because they could still be shown.
    await this.inBatches(async () => {
      const [row] = await this.database.run(FORGET_WEBHOOKS, { limit: BATCH });
      return row?.count === BATCH;
    });
  }

  private async detachOld(): Promise<void> {
    const old = await this.partitions(DAYS_BEYOND);
    for (const day of new Set(old.map((partition) => partition.day))) {
      await this.detachDay(old.filter((partition) => partition.day === day));
    }
  }

  private async detached(): Promise<string[]> {
    const rows = await this.database.run(DETACHED);
    return rows.map(({ name }) => name);
  }

  private partitions(beyond: number): Promise<PartitionRow[]> {
    return this.database.run(OLD_PARTITIONS, { beyond });
  }

  private expire(partition: PartitionRow): Promise<void> {
    return this.inBatches(async () => {
      const values = { ...boundsOf(partition), limit: BATCH };
      const { count } = await this.remove(EXPIRE, values);
      this.metrics.ended('exhausted', count);
      return count === BATCH;
    });
  }

  private async detachDay(partitions: readonly PartitionRow[]): Promise<void> {
    const of = (parent: PartitionRow['parent']) =>
      partitions.find((partition) => partition.parent === parent);
    const deliveries = of('deliveries');
    const events = of('events');
    // An attempt is in flight, or a delivery was redelivered: wait for the next run.
    if (deliveries && (await this.hasPending(deliveries))) return;
    if (events) await this.freeKeys(events);
    for (const { name } of partitions) await this.remove(DETACH, { name });
  }

  private async hasPending(partition: PartitionRow): Promise<boolean> {
    return (await this.database.run(FIND_PENDING, boundsOf(partition))).length > 0;
  }

  private freeKeys(partition: PartitionRow): Promise<void> {
    const { firstId, endId } = boundsOf(partition);
    // No event has the lower bound itself as its id, because ids contain a version.
    let after = firstId;
    return this.inBatches(async () => {
      const { last } = await this.remove(FREE_KEYS, { after, endId, limit: BATCH });
      after = last ?? after;
      return last !== null;
    });
  }

  /** @throws OtherWorkerError if another worker is removing data; then nothing was done */
  private async remove<Values extends object, Row extends RemovalRow>(
    statement: Statement<Values, Row>,
    ...values: Given<Values>
  ): Promise<Row> {
    this.signal?.throwIfAborted();
    const [row] = await this.database.run(statement, ...values);
    if (row?.mine !== true) throw new OtherWorkerError();
    return row;
  }

  /** Sleeps half of the time, to leave capacity for others. */
  private async inBatches(batch: () => Promise<boolean>): Promise<void> {
    for (;;) {
      this.signal?.throwIfAborted();
      const start = performance.now();
      if (!(await batch())) return;
      await sleep(performance.now() - start);
    }
  }
}

function boundsOf({ firstId, endId }: PartitionRow) {
  return { firstId, endId };
}
