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
  detach,
  DETACHED,
  DETACHING,
  DETACHING_VALUES,
  drop,
  expire,
  findPending,
  finishDetaching,
  freeKeys,
  HALF_DETACHED,
  mark,
  OLD_PARTITIONS,
  type PartitionRow,
  TRY_LOCK,
} from './retention.statements.js';
import { FORGET_REPLAYS } from './replay.statements.js';
import { Rounds } from './rounds.js';

const ROUNDS = { everyMs: 300_000, share: 0.5 };
const BATCH = 1_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';
/** Days after which a day is gone: it has to be over, and its deliveries have had one to expire. */
const DAYS_BEYOND = 2;
/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Removes what is older than `RETENTION_DAYS`, and what is no longer valid. Deliveries that are not finished by then expire; a day
 * later the partitions of their day go whole, with the keys of its events. Runs in every worker, one
 * at a time; what one leaves half done, the next one ends.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly rounds = new Rounds(() => this.round(), ROUNDS);
  private readonly days: number;
  private stopping = false;
  /** What was detached when the last round of this worker ended. */
  private seenDetached = new Set<string>();

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(CONFIG) config: Config,
  ) {
    this.days = config.RETENTION_DAYS;
  }

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
    for (const { parent, name } of await this.partitions(this.days)) {
      if (parent === 'deliveries') await this.expire(name);
    }
    await this.database.run(FORGET_REPLAYS, [this.days]);
    await this.inBatches(async () => (await this.idempotencyKeys.forgetOld(BATCH)) === BATCH);
    // A statement that found it among the partitions just before it was detached has read it by now.
    const gone = (await this.detached()).filter((name) => this.seenDetached.has(name));
    for (const name of gone) {
      if (!this.stopping) await this.database.run(drop(name), []);
    }
    await this.detachOld();
    this.seenDetached = new Set(await this.detached());
  }

  private async detachOld(): Promise<void> {
    // One that waits for a backup or another long transaction goes on by itself.
    if ((await this.database.run(DETACHING, DETACHING_VALUES)).length > 0) return;
    for (const half of await this.database.run<PartitionRow>(HALF_DETACHED, [])) {
      await this.database.run(finishDetaching(half), []);
    }
    const old = await this.partitions(this.days + DAYS_BEYOND);
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

  private expire(partition: string): Promise<void> {
    return this.inBatches(async () => {
      const expired = await this.database.run(expire(partition), [this.days, BATCH]);
      this.metrics.ended('exhausted', expired.length);
      return expired.length === BATCH;
    });
  }

  private async detachDay(partitions: readonly PartitionRow[]): Promise<void> {
    const named = (parent: PartitionRow['parent']) =>
      partitions.find((partition) => partition.parent === parent)?.name;
    const deliveries = named('deliveries');
    const events = named('events');
    // An attempt is on its way, or somebody sent one again: it has until the next round.
    if (deliveries && (await this.database.run(findPending(deliveries), [])).length > 0) return;
    if (events) await this.freeKeys(events);
    for (const partition of partitions) {
      if (this.stopping) return;
      await this.database.run(mark(partition), []);
      await this.database.run(detach(partition), []);
    }
  }

  private freeKeys(partition: string): Promise<void> {
    let after = NO_ID;
    return this.inBatches(async () => {
      const [last] = await this.database.run<{ id: string }>(freeKeys(partition), [after, BATCH]);
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
