import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import {
  DataSource,
  type EntityManager,
  type EntityTarget,
  type FindOptionsOrder,
  type FindOptionsWhere,
  MoreThan,
  type QueryRunner,
} from 'typeorm';
import {
  AsyncContext,
  BusyError,
  type Page,
  currentActor,
  Transactions,
  FairSemaphore,
  UnavailableError,
} from '#libs/kernel';
import { isTransient, translateDatabaseError } from './database-errors.js';
import { Database } from './database.js';
import type { Given, Run, Statement } from './statement.js';

const REPEATS = 3;

/** Transactions of a user that wait for a slot, including those of clients that have left. */
const MOST_WAITING = 1_000;

/** An open transaction. */
interface Transaction {
  runner: QueryRunner;
  afterCommit: (() => void)[];
}

/** {@link Transactions} on TypeORM's connections, and the methods with which repositories take part. */
@Injectable()
export class TypeOrmTransactions extends Transactions {
  private readonly context = new AsyncContext<Transaction>();
  /** Limits each user to half of the connections; further transactions wait for a slot. */
  private readonly semaphore: FairSemaphore;

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {
    super();
    const { poolSize = 10 } = dataSource.options as { poolSize?: number };
    this.semaphore = new FairSemaphore(
      { atOnce: poolSize, atOnceOfOne: Math.ceil(poolSize / 2), waitingOfOne: MOST_WAITING },
      () => new BusyError('The user has too many changes in progress.'),
    );
  }

  /** Whether the caller is inside {@link run}. */
  get underWay(): boolean {
    return this.context.current !== undefined;
  }

  /**
   * Calls `work` with the entity manager of the current transaction, or with one that commits at once.
   * @throws UnavailableError when PostgreSQL cannot be reached; inside a transaction, the driver's error
   * unchanged, because {@link run} decides by it whether to repeat
   */
  async use<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    const { runner } = this.context.current ?? {};
    if (runner) return work(runner.manager);
    try {
      return await work(this.dataSource.manager);
    } catch (error) {
      this.database.failed(error);
      throw translateDatabaseError(error);
    }
  }

  /** The rows of a page, in ascending order of id. @throws like {@link use} */
  page<Row extends { id: string }>(
    entity: EntityTarget<Row>,
    { after, limit }: Page,
    where: FindOptionsWhere<Row> = {},
  ): Promise<Row[]> {
    return this.use((manager) =>
      manager.find(entity, {
        where: { ...where, ...(after !== undefined && { id: MoreThan(after) }) },
        order: { id: 'ASC' } as FindOptionsOrder<Row>,
        take: limit,
      }),
    );
  }

  /**
   * Runs one statement in the current transaction, or in its own.
   * @throws like {@link use}
   */
  readonly query: Run = async (statement, ...given) => {
    const { runner } = this.context.current ?? {};
    if (runner) return runIn(runner, statement, ...given);
    return this.database.run(statement, ...given).catch((error: unknown) => {
      throw translateDatabaseError(error);
    });
  };

  /**
   * Like {@link query}, for statements that only read. Releases its locks even inside a transaction, so that a
   * caller that reads many partitions does not hold locks on all of them.
   */
  readonly peek: Run = async (statement, ...given) => {
    const { runner } = this.context.current ?? {};
    if (!runner) return this.query(statement, ...given);
    await runner.query('SAVEPOINT peek');
    const rows = await runIn(runner, statement, ...given);
    await runner.query('ROLLBACK TO SAVEPOINT peek');
    await runner.query('RELEASE SAVEPOINT peek');
    return rows;
  };

  override afterCommit(work: () => void): void {
    const transaction = this.context.current;
    if (transaction) transaction.afterCommit.push(work);
    else work();
  }

  override async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.underWay) return work();
    const { userId } = currentActor();
    if (userId === undefined) return this.runRepeatedly(work);
    return this.semaphore.run(() => this.runRepeatedly(work), userId);
  }

  private async runRepeatedly<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let repeats = REPEATS; ; repeats -= 1) {
      try {
        return await this.runOnce(work);
      } catch (error) {
        if (!isTransient(error) || repeats === 0) throw translateDatabaseError(error);
      }
    }
  }

  private async runOnce<Result>(work: () => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    const transaction: Transaction = { runner, afterCommit: [] };
    let result: Result;
    try {
      await runner.startTransaction();
      result = await this.context.run(transaction, work);
      await runner.commitTransaction();
    } catch (error) {
      this.database.failed(error);
      // TypeORM releases a lost connection, and reports only that in its error.
      if (runner.isReleased) throw new UnavailableError(error);
      await rollBack(runner);
      throw error;
    } finally {
      await runner.release();
    }
    for (const each of transaction.afterCommit) each();
    return result;
  }
}

async function runIn<Values extends object, Row extends object>(
  runner: QueryRunner,
  { text, valuesOf }: Statement<Values, Row>,
  ...given: Given<Values>
): Promise<Row[]> {
  const { records } = await runner.query(text, valuesOf(...given), true);
  return records as Row[];
}

async function rollBack(runner: QueryRunner): Promise<void> {
  if (!runner.isTransactionActive) return;
  await runner.rollbackTransaction().catch(() => close(runner));
}

/**
 * Closes a connection that cannot be rolled back. From the pool, others would continue its transaction, which
 * is never committed.
 */
async function close(runner: QueryRunner): Promise<void> {
  const client = (await runner.connect().catch(() => undefined)) as Client | undefined;
  void client?.end().catch(() => undefined);
}
