import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { OutageLog } from '../logging/outage-log.js';
import { Metrics } from '../telemetry/metrics.js';
import { isAway, isMissingPartition } from './database-errors.js';
import type { Run, Statement } from './statement.js';

/** After this long without an error, PostgreSQL counts as back. */
const STEADY_MS = 5_000;

/**
 * Runs SQL on the process's connection pool, which is shared with TypeORM. {@link run} is for the event path
 * and background tasks; code that serves a single request uses {@link TypeOrmTransactions}.
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
      'Statements of the event path that failed in PostgreSQL.',
    );
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
    this.prepared = config.DATABASE_PREPARED_STATEMENTS;
  }

  /**
   * Runs one statement in its own transaction. If a partition is missing, creates it and repeats the
   * statement once: the machine may have slept for a week, or its clock was set forward.
   * @throws the driver's error unchanged: a caller that repeats or splits needs its SQLSTATE
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

  /** @param make runs when a partition is missing, before the statement is repeated */
  whenPartitionIsMissing(make: () => Promise<void>): void {
    this.makePartition = make;
  }

  /** Concurrent callers share one run. */
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
      // A timeout alone may come from a lock. If the server is down, the next connection fails.
      if (isAway(error)) this.outages.away(error);
      throw error;
    }
  }
}
