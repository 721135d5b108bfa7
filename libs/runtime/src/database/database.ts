import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { Log, OutageLog } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { codeOf, isAway, isTimedOut } from './database-errors.js';
import {
  COMMIT_SETTINGS,
  CURRENT_SETTINGS,
  type CurrentSettings,
  requireFit,
  requireSynchronous,
  requireWritable,
  UnusableDatabaseError,
} from './needed-settings.js';
import { type NoValues, prepared, type Run, statement, type Statement } from './statement.js';

/** After this long without an error, the log says that PostgreSQL is back. */
const STEADY_MS = 5_000;
/** The pause between two tries to write while none has succeeded since a failure. */
const AGAIN_MS = 1_000;

/** By SQLSTATE. */
const REASONS: Readonly<Record<string, string>> = {
  '53100': 'the disk of PostgreSQL is full',
  '53200': 'PostgreSQL is out of memory',
  '53300': 'PostgreSQL has too many connections',
  '25006': 'PostgreSQL takes no writes',
};

/** Why PostgreSQL cannot be used, if it said so itself. */
function reasonFor(error: unknown): unknown {
  const reason = REASONS[codeOf(error)];
  return reason === undefined ? error : new UnusableDatabaseError(reason, { cause: error });
}

/**
 * Commits a write that leaves nothing behind. A full disk shows only when a file has to grow, so the row is larger than the
 * free space of pages. Two commands in one transaction, which needs the simple protocol, and so no values.
 */
export const TRY_WRITE = statement(`
INSERT INTO processes (id, kind, version, in_flight)
SELECT 'write ' || pg_backend_pid(), string_agg(md5(random()::text), ''), '', 0 FROM generate_series(1, 2000);
DELETE FROM processes WHERE id = 'write ' || pg_backend_pid()`);

export const CHECK_COMMIT = prepared<NoValues, Pick<CurrentSettings, 'now'>>(
  'database.commit',
  COMMIT_SETTINGS,
);

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
  private readonly isSynchronous: boolean;
  /** Whether commits waited for a standby when that was last checked. */
  private waited = false;
  private readonly errors;
  private readonly outages: OutageLog;
  /** The last failure since which no write has succeeded, and when one was last tried, by `performance.now()`. */
  private outage: { error: unknown; triedAt: number } | undefined;
  private writing: Promise<void> | undefined;

  constructor(dataSource: DataSource, metrics: Metrics, log: Log, @Inject(CONFIG) config: Config) {
    this.outages = new OutageLog('PostgreSQL', log, STEADY_MS);
    this.errors = metrics.counter(
      'switchhook_database_errors_total',
      'Statements of the event path that failed in PostgreSQL.',
    );
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
    this.prepared = config.DATABASE_PREPARED_STATEMENTS;
    this.schema = config.DATABASE_SCHEMA;
    this.isSynchronous = config.DATABASE_SYNCHRONOUS;
  }

  /**
   * Runs one statement in its own transaction.
   * @throws the driver's error unchanged: a caller that repeats or splits needs its SQLSTATE
   */
  readonly run: Run = async (statement, ...given) => {
    const rows = await this.runOnce(this.pool, statement, statement.valuesOf(...given));
    if (this.outage) void this.tryWrite();
    return rows;
  };

  /**
   * Like {@link run}, for what must survive a failover if `DATABASE_SYNCHRONOUS` is set.
   * @throws ReadOnlyDatabaseError if the commit may not have waited for a standby; then it may have been made
   */
  readonly runSynchronously: Run = (statement, ...given) => {
    if (!this.isSynchronous) return this.run(statement, ...given);
    const values = statement.valuesOf(...given);
    return this.onOneConnection(async (client) => {
      if (!this.waited) await this.checkCommit(client);
      const rows = await this.runOnce(client, statement, values);
      // Afterwards, because clearing the setting ends the waits of commits.
      await this.checkCommit(client);
      if (this.outage) void this.tryWrite();
      return rows;
    });
  };

  /**
   * Checks that PostgreSQL accepts writes on current and new connections. Reads may succeed while the disk is full, so
   * after an outage a write must have succeeded.
   * @throws UnusableDatabaseError; the driver's error if it does not answer
   */
  async check(): Promise<void> {
    const rows = await this.runOnce(this.pool, CHECK, []).catch((error: unknown) => {
      throw reasonFor(error);
    });
    for (const settings of rows) {
      requireFit(settings, this.schema);
      requireWritable(settings);
      if (this.isSynchronous) requireSynchronous(settings);
    }
    await this.tryWrite();
    if (this.outage) throw reasonFor(this.outage.error);
  }

  /** Reports the error of a statement that may mean that PostgreSQL is away. */
  failed(error: unknown): void {
    // Not for a timeout, which a lock may cause. After a silence, the server has not even cancelled the statement.
    if (!isAway(error) && !isTimedOut(error)) return;
    this.outages.away(error);
    this.outage = { triedAt: -Infinity, ...this.outage, error };
  }

  private async checkCommit(client: PoolClient): Promise<void> {
    this.waited = false;
    const rows = await this.runOnce(client, CHECK_COMMIT, []);
    try {
      for (const settings of rows) requireSynchronous(settings);
    } catch (error) {
      this.failed(error);
      throw error;
    }
    this.waited = true;
  }

  /** Another connection could lead to another server. */
  private async onOneConnection<Result>(
    work: (client: PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.pool.connect().catch((error: unknown) => {
      this.errors.inc();
      this.failed(error);
      throw error;
    });
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // Closes the connection, as the pool does after an error.
      client.release(true);
      throw error;
    }
  }

  private async runOnce<Row extends object>(
    on: Pick<Pool, 'query'>,
    { name, text }: Omit<Statement<never, Row>, 'valuesOf'>,
    values: unknown[],
  ): Promise<Row[]> {
    const query = this.prepared && name !== undefined ? { name, text, values } : { text, values };
    try {
      const { rows } = await on.query<Row>(query);
      if (!this.outage) this.outages.back();
      return rows;
    } catch (error) {
      this.errors.inc();
      this.failed(error);
      throw error;
    }
  }

  /** Ends an outage if a write succeeds. Callers share it. Never rejects. */
  private async tryWrite(): Promise<void> {
    if (!this.outage) return;
    this.writing ??= this.write(this.outage.triedAt + AGAIN_MS).finally(() => {
      this.writing = undefined;
    });
    await this.writing;
  }

  /** @param at not before this time */
  private async write(at: number): Promise<void> {
    const waitMs = at - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
    try {
      const { text } = TRY_WRITE;
      await this.pool.query({ text });
      if (this.isSynchronous) await this.onOneConnection((client) => this.checkCommit(client));
      this.outage = undefined;
    } catch (error) {
      this.errors.inc();
      this.outages.away(error);
      this.outage = { triedAt: performance.now(), error };
    }
  }
}
