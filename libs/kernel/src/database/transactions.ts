import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { isTransient, translateDatabaseError } from './database-errors.js';

const REPEATS = 3;

/**
 * Lets several repositories, of several contexts, work in one transaction without knowing of it:
 * inside {@link run} their {@link manager} is the transaction's.
 */
@Injectable()
export class Transactions {
  private readonly current = new AsyncLocalStorage<EntityManager>();

  constructor(private readonly dataSource: DataSource) {}

  /** The manager to use now: that of the transaction under way, else one that commits at once. */
  get manager(): EntityManager {
    return this.current.getStore() ?? this.dataSource.manager;
  }

  /**
   * Gives `work` the {@link manager}.
   * @throws UnavailableError when PostgreSQL cannot be reached; inside a transaction the driver's
   * error as it is, since {@link run} must see what it may repeat
   */
  async use<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    const manager = this.current.getStore();
    if (manager) return work(manager);
    try {
      return await work(this.dataSource.manager);
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }

  /**
   * Runs `work` in a transaction, or in the one that is under way. Work that lost against a
   * concurrent transaction (serialisation, deadlock) is done again, so it must not leave traces
   * outside the database.
   * @throws UnavailableError when PostgreSQL cannot be reached
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.current.getStore()) return work();
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
    try {
      await runner.startTransaction();
      const result = await this.current.run(runner.manager, work);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await rollBack(runner);
      throw error;
    } finally {
      await runner.release();
    }
  }
}

/**
 * A connection that cannot be rolled back, since its statement still waits for a lock, must not go
 * back to the pool: others would go on in its transaction, which nobody commits.
 */
async function rollBack(runner: QueryRunner): Promise<void> {
  try {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
  } catch {
    const client = (await runner.connect().catch(() => undefined)) as Client | undefined;
    void client?.end().catch(() => undefined);
  }
}
