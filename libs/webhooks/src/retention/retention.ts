import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  BackgroundTasks,
  CONFIG,
  type Config,
  Database,
  IdempotencyKeys,
  Log,
  type Given,
  type Statement,
} from '#libs/runtime';
import { DeliveryMetrics } from '../sending/delivery-metrics.js';
import {
  DAYS_BEYOND,
  daysKept,
  DETACH,
  DETACHED,
  DROP,
  EXPIRE,
  FIND_PENDING,
  FORGET_COUNTS,
  FORGET_LOADS,
  FORGET_LOSSES,
  FORGET_RECOVERIES,
  FORGET_REPLAYS,
  FORGET_WEBHOOKS,
  FREE_KEYS,
  HALF_DETACHED,
  OLD_PARTITIONS,
  type PartitionRow,
  type RemovalRow,
} from './retention.statements.js';

const OPTIONS = { everyMs: 300_000 };
const BATCH = 1_000;
/** Health looks back for a day. */
const DAYS_OF_LOSSES = 2;

/** Another worker is removing data at the moment and does all the work. */
class OtherWorkerError extends Error {}

/**
 * Removes data older than `RETENTION_DAYS`, subscriptions deleted before that, and idempotency keys that
 * are no longer valid. Deliveries unfinished by then expire. A day later, the partitions of their day are
 * dropped, and the keys of its events are deleted. Runs in every worker. Each step determines what is left
 * to do, so a worker that finds another one at work leaves everything to it.
 */
@Injectable()
export class Retention {
  private warned = false;
  /** Tables that were already detached when this worker's last run ended. */
  private seenDetached = new Set<string>();
  private signal: AbortSignal | undefined;

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(CONFIG) private readonly config: Config,
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
    const days = await this.days();
    for (const partition of await this.partitions(days)) {
      if (partition.parent === 'deliveries') await this.expire(partition, days);
    }
    await this.inBatches(async () => (await this.idempotencyKeys.deleteExpired(BATCH)) === BATCH);
    for (const one of [FORGET_REPLAYS, FORGET_RECOVERIES, FORGET_COUNTS, FORGET_LOADS]) {
      await this.forget(one, days);
    }
    await this.forget(FORGET_LOSSES, DAYS_OF_LOSSES);
    // Statements that still saw the partition before it was detached have ended by now.
    const gone = (await this.detached()).filter((name) => this.seenDetached.has(name));
    for (const name of gone) await this.remove(DROP, { name });
    await this.detachOld(days);
    this.seenDetached = new Set(await this.detached());
    // After the deliveries, because they could still be shown.
    await this.inBatches(async () => {
      const [row] = await this.database.run(FORGET_WEBHOOKS, { days, limit: BATCH });
      return row?.count === BATCH;
    });
  }

  private forget(statement: typeof FORGET_REPLAYS, days: number): Promise<void> {
    return this.inBatches(async () => {
      return (await this.database.run(statement, { days, limit: BATCH })).length === BATCH;
    });
  }

  private async days(): Promise<number> {
    const configured = this.config.RETENTION_DAYS;
    const days = await daysKept(this.database.run, configured);
    if (days > configured && !this.warned) {
      this.warned = true;
      this.log.warn({ configured, days }, 'data is kept longer than RETENTION_DAYS: run migrate');
    }
    return days;
  }

  private async detachOld(days: number): Promise<void> {
    for (const { name } of await this.database.run(HALF_DETACHED)) {
      await this.remove(DETACH, { name });
    }
    const old = await this.partitions(days + DAYS_BEYOND);
    for (const day of new Set(old.map((partition) => partition.day))) {
      await this.detachDay(old.filter((partition) => partition.day === day));
    }
  }

  private async detached(): Promise<string[]> {
    const rows = await this.database.run(DETACHED);
    return rows.map(({ name }) => name);
  }

  private partitions(days: number): Promise<PartitionRow[]> {
    return this.database.run(OLD_PARTITIONS, { days });
  }

  private expire(partition: PartitionRow, days: number): Promise<void> {
    return this.inBatches(async () => {
      const values = { ...boundsOf(partition), days, limit: BATCH };
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
