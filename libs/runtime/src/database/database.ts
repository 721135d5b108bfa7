import { Inject, Injectable } from '@nestjs/common';
import type { Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { OutageLog } from '../logging/outage-log.js';
import { Metrics } from '../telemetry/metrics.js';
import { isAway, isMissingPartition, translateDatabaseError } from './database-errors.js';

/**
 * A statement. Its name is the key of the server's prepared plan; one without a name is planned
 * anew for its values each time, as a statement must whose best plan depends on them.
 */
export interface Statement {
  name?: string;
  text: string;
}

/** Without an error for so long PostgreSQL is back. */
const STEADY_MS = 5_000;

/**
 * The connections of the process, shared with TypeORM: for statements that an entity manager
 * would only make slower.
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
  async run<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return await this.runOnce<Row>(statement, values);
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await this.makeMissingPartition().catch((failure: unknown) =>
        this.log.error({ err: failure }, 'a missing partition could not be made'),
      );
      return this.runOnce<Row>(statement, values);
    }
  }

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

  private async runOnce<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    const { name, text } = statement;
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

  /**
   * Like {@link run}, for callers that only pass the error on.
   * @throws UnavailableError when PostgreSQL cannot be reached
   */
  async query<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return await this.run<Row>(statement, values);
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }
}
