import { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import { dataSourceOptions } from './data-source-options.js';

const PARTITION_DAYS_AHEAD = 7;

/** Any number, the same in every version: whoever holds this lock migrates. */
const MIGRATION_LOCK = 7_770_000;

/**
 * Brings the database up to this version and makes partitions a week ahead. Safe to run at the
 * same time from several processes: one migrates, the others wait and find nothing to do.
 * @returns the names of the migrations that were carried out
 */
export async function migrate(config: Config): Promise<string[]> {
  const url = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  // Two connections: one holds the lock, the other migrates.
  const source = new DataSource(
    dataSourceOptions({ ...config, DATABASE_URL: url, DATABASE_POOL_SIZE: 2 }),
  );
  await source.initialize();
  const lock = source.createQueryRunner();
  try {
    await lock.connect();
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await source.runMigrations({ transaction: 'each' });
    await source.query('SELECT ensure_partitions($1)', [PARTITION_DAYS_AHEAD]);
    return done.map((migration) => migration.name);
  } finally {
    // The lock must not outlive this function in a pooled connection.
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await source.destroy();
  }
}
