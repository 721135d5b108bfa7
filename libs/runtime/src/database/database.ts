import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { OutageLog } from '../logging/outage-log.js';
import { Metrics } from '../telemetry/metrics.js';
import { isAway, isMissingPartition } from './database-errors.js';
import type { Run, Statement } from './statement.js';

/** Without an error for so long PostgreSQL is back. */
const STEADY_MS = 5_000;

/**
 * The connections of the process, shared with TypeORM. {@link run} is for the event path and for
 * background tasks; what serves one request runs its statements in {@link TypeOrmTransactions}.
 */
@Injectable()
export class Database {
  private readonly pool: Pool;
  private readonly prepared: boolean;
  private readonly errors;
  private readonly outages: OutageLog;
  private makePartition: (() => Promise<void>) | undefined;
  private making: Promise<void> | undefined;

  constructor(
    dataSource: DataSource,
    metrics: Metrics,
    private readonly log: Log,
    @Inject(CONFIG) config: Config,
  ) {
    this.outages = new OutageLog('PostgreSQL', log, STEADY_MS);
    this.errors = metrics.counter(
      'switchhook_database_errors_total',
      'Statements of the event path that PostgreSQL did not carry out.',
    );
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
    this.prepared = config.DATABASE_PREPARED_STATEMENTS;
  }

  /**
   * Runs one statement in a transaction of its own. Where that lacks a partition it is repeated once
   * when there are partitions: the machine may have slept for a week, or its clock was set forward.
   * @throws the driver's error as it is: a caller that repeats or splits needs its SQLSTATE
   */
  readonly run: Run = async (statement, ...given) => {
    const values = statement.valuesOf(...given);
    try {
      return await this.runOnce(statement, values);
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await this.makeMissingPartition().catch((failure: unknown) =>
        this.log.error({ err: failure }, 'a missing partition could not be made'),
      );
      return this.runOnce(statement, values);
    }
  };

  /** @param make is run when a row has no partition, before its statement is repeated */
  whenPartitionIsMissing(make: () => Promise<void>): void {
    this.makePartition = make;
  }

  /** Callers at the same time share it. */
  async makeMissingPartition(): Promise<void> {
    this.making ??= this.makePartition?.().finally(() => {
      this.making = undefined;
    });
    await this.making;
  }

  private async runOnce<Row extends object>(
    { name, text }: Omit<Statement<never, Row>, 'valuesOf'>,
    values: unknown[],
  ): Promise<Row[]> {
    const query = this.prepared && name !== undefined ? { name, text, values } : { text, values };
    try {
      const { rows } = await this.pool.query<Row>(query);
      this.outages.back();
      return rows;
    } catch (error) {
      this.errors.inc();
      // One that is late may wait for a lock; where nothing answers, connecting fails next.
      if (isAway(error)) this.outages.away(error);
      throw error;
    }
  }
}
