import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import {
  codeOf,
  CONFIG,
  type Config,
  Database,
  IdempotencyKeys,
  isUnavailable,
  Log,
  Transactions,
  UnavailableError,
} from '#libs/kernel';
import { DeliveryMetrics } from './delivery-metrics.js';
import {
  DETACH,
  DETACHED,
  DROP,
  EXPIRE,
  FIND_PENDING,
  FREE_KEYS,
  HALF_DETACHED,
  KEPT_DAYS,
  OLD_PARTITIONS,
  type PartitionRow,
  TRY_LOCK,
} from './retention.statements.js';
import { FORGET_REPLAYS } from './replay.statements.js';
import { Rounds } from './rounds.js';

const ROUNDS = { everyMs: 300_000, share: 0.5 };
const BATCH = 1_000;
/** Days after which a day is gone: it has to be over, and its deliveries have had one to expire. */
const DAYS_BEYOND = 2;
/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Removes what is older than `RETENTION_DAYS`, and idempotency keys that are no longer valid.
 * Deliveries that are not finished by then expire; a day later the partitions of their day go whole,
 * with the keys of its events. Runs in every worker, one at a time; what one leaves half done, the
 * next one ends.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly rounds = new Rounds(() => this.round(), ROUNDS);
  private stopping = false;
  private warned = false;
  /** What was detached when the last round of this worker ended. */
  private seenDetached = new Set<string>();

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start();
  }

  /** Ends after the statement that is under way. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.rounds.stop();
  }

  /** Does all that is to be done now, unless another worker is at it. */
  async round(): Promise<void> {
    try {
      // The lock is a transaction's, not a session's (PgBouncer); the work has connections of its own.
      await this.transactions.run(async () => {
        const { manager } = this.transactions;
        const [lock] = await manager.query<{ mine: boolean }[]>(TRY_LOCK);
        // Not to the transaction, which would begin all of it again.
        if (lock?.mine === true) await this.work().catch((error: unknown) => this.report(error));
      });
    } catch (error) {
      this.report(error);
    }
  }

  /** A database that is away, and a lock that was not to be had, are tried again next time. */
  private report(error: unknown): void {
    if (error instanceof UnavailableError || isUnavailable(error)) return;
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return;
    this.log.error({ err: error }, 'what is too old was not removed');
  }

  private async work(): Promise<void> {
    const days = await this.days();
    for (const partition of await this.partitions(days)) {
      if (partition.parent === 'deliveries') await this.expire(partition, days);
    }
    await this.database.run(FORGET_REPLAYS, [days]);
    await this.inBatches(async () => (await this.idempotencyKeys.forgetOld(BATCH)) === BATCH);
    // A statement that found it among the partitions just before it was detached has read it by now.
    const gone = (await this.detached()).filter((name) => this.seenDetached.has(name));
    for (const name of gone) {
      if (!this.stopping) await this.database.run(DROP, [name]);
    }
    await this.detachOld(days);
    this.seenDetached = new Set(await this.detached());
  }

  private async days(): Promise<number> {
    const configured = this.config.RETENTION_DAYS;
    const [row] = await this.database.run<{ days: number }>(KEPT_DAYS, [configured]);
    const days = row?.days ?? configured;
    if (days > configured && !this.warned) {
      this.warned = true;
      this.log.warn({ configured, days }, 'data is kept for as long as migrate was told');
    }
    return days;
  }

  private async detachOld(days: number): Promise<void> {
    for (const { name } of await this.database.run<{ name: string }>(HALF_DETACHED, [])) {
      await this.database.run(DETACH, [name]);
    }
    const old = await this.partitions(days + DAYS_BEYOND);
    for (const day of new Set(old.map((partition) => partition.day))) {
      await this.detachDay(old.filter((partition) => partition.day === day));
    }
  }

  private async detached(): Promise<string[]> {
    const rows = await this.database.run<{ name: string }>(DETACHED, []);
    return rows.map(({ name }) => name);
  }

  private partitions(days: number): Promise<PartitionRow[]> {
    return this.database.run<PartitionRow>(OLD_PARTITIONS, [days]);
  }

  private expire({ first_id, end_id }: PartitionRow, days: number): Promise<void> {
    return this.inBatches(async () => {
      const expired = await this.database.run(EXPIRE, [first_id, end_id, days, BATCH]);
      this.metrics.ended('exhausted', expired.length);
      return expired.length === BATCH;
    });
  }

  private async detachDay(partitions: readonly PartitionRow[]): Promise<void> {
    const of = (parent: PartitionRow['parent']) =>
      partitions.find((partition) => partition.parent === parent);
    const deliveries = of('deliveries');
    const events = of('events');
    // An attempt is on its way, or somebody sent one again: it has until the next round.
    if (deliveries && (await this.hasPending(deliveries))) return;
    if (events) await this.freeKeys(events);
    for (const { name } of partitions) {
      if (this.stopping) return;
      await this.database.run(DETACH, [name]);
    }
  }

  private async hasPending({ first_id, end_id }: PartitionRow): Promise<boolean> {
    return (await this.database.run(FIND_PENDING, [first_id, end_id])).length > 0;
  }

  private freeKeys({ first_id, end_id }: PartitionRow): Promise<void> {
    // Nobody has the least id of a day: an id also tells its version.
    let after = first_id;
    return this.inBatches(async () => {
      const [last] = await this.database.run<{ id: string }>(FREE_KEYS, [after, end_id, BATCH]);
      after = last?.id ?? after;
      return last !== undefined;
    });
  }

  /** Leaves half of the time to others. */
  private async inBatches(batch: () => Promise<boolean>): Promise<void> {
    while (!this.stopping) {
      const start = performance.now();
      if (!(await batch())) return;
      await sleep(performance.now() - start);
    }
  }
}
