import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { Log, OutageLog } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { codeOf, isAway, isMissingPartition } from './database-errors.js';
import {
  CURRENT_SETTINGS,
  type CurrentSettings,
  requireFit,
  requireWritable,
  UnusableDatabaseError,
} from './needed-settings.js';
import { type NoValues, prepared, type Run, type Statement } from './statement.js';

/** After this long without an error, PostgreSQL counts as back. */
const STEADY_MS = 5_000;

/** By SQLSTATE. */
const SHORTAGES: Readonly<Record<string, string>> = {
  '53100': 'the disk of PostgreSQL is full',
  '53200': 'PostgreSQL is out of memory',
  '53300': 'PostgreSQL has too many connections',
};

export const CHECK = prepared<NoValues, CurrentSettings>('database.check', CURRENT_SETTINGS);

/**
 * Runs SQL on the process's connection pool, which is shared with TypeORM. {@link run} is for the event path
 * and background tasks; code that serves a single request uses {@link TypeOrmTransactions}.
 */
@Injectable()
export class Database {
  private readonly pool: Pool;
  private readonly prepared: boolean;
  private readonly schema: string | undefined;
  private readonly errors;
  private readonly outages: OutageLog;
  private makePartition: (() => Promise<void>) | undefined;
  private making: Promise<void> | undefined;
  /** The last time that a statement failed for lack of a resource, as `performance.now()`. */
  private shortage: { code: string; at: number } | undefined;

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
    this.schema = config.DATABASE_SCHEMA;
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
      await this.createMissingPartition().catch((failure: unknown) =>
        this.log.error({ err: failure }, 'a missing partition could not be created'),
      );
      return this.runOnce(statement, values);
    }
  };

  /**
   * Checks that PostgreSQL accepts writes on current and new connections. Reads may succeed while the disk is full,
   * so a shortage counts for some seconds.
   * @throws UnusableDatabaseError; the driver's error if it does not answer
   */
  async check(): Promise<void> {
    const rows = await this.runOnce(CHECK, []).catch((error: unknown) => {
      const why = SHORTAGES[codeOf(error)];
      throw why === undefined ? error : new UnusableDatabaseError(why);
    });
    for (const settings of rows) {
      requireFit(settings, this.schema);
      requireWritable(settings);
    }
    const { code, at } = this.shortage ?? { code: '', at: -Infinity };
    if (performance.now() - at < STEADY_MS) throw new UnusableDatabaseError(SHORTAGES[code]);
  }

  /** @param make creates a missing partition; the statement is repeated after it */
  onMissingPartition(make: () => Promise<void>): void {
    this.makePartition = make;
  }

  /** Concurrent callers share one run. */
  async createMissingPartition(): Promise<void> {
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
      // A lack of connections (53300) does not affect the open ones.
      const code = codeOf(error);
      if (code === '53100' || code === '53200') this.shortage = { code, at: performance.now() };
      // Not for a timeout, which a lock may cause. If the server is down, the next connection fails.
      if (isAway(error)) this.outages.away(error);
      throw error;
    }
  }
}
