import { DataSource, type EntityManager } from 'typeorm';
import { type Config, InvalidConfigError } from '../config/config.js';
import { dataSourceOptions } from './data-source-options.js';
import { grantRights } from './grants.js';

const PARTITION_DAYS_AHEAD = 7;

/** Any number, the same in every version: whoever holds this lock migrates. */
const MIGRATION_LOCK = 7_770_000;

/**
 * Brings the database up to this version, makes partitions a week ahead, and gives the roles of the
 * processes their rights. Safe to run at the same time from several processes: one migrates, the
 * others wait and find nothing to do.
 * @returns the names of the migrations that were carried out
 * @throws InvalidConfigError when a role that is named cannot be one of those
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
    await source.transaction((manager) => decide(manager, config));
    return done.map((migration) => migration.name);
  } finally {
    // The lock must not outlive this function in a pooled connection.
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await source.destroy();
  }
}

/** What only the owner of the database decides: for how long data is kept, and who may do what. */
async function decide(manager: EntityManager, config: Config): Promise<void> {
  await manager.query(
    `CREATE OR REPLACE FUNCTION retention_days() RETURNS integer
     LANGUAGE sql STABLE RETURN ${String(config.RETENTION_DAYS)}`,
  );
  const { DATABASE_API_ROLE: api, DATABASE_WORKER_ROLE: worker } = config;
  await requireRole(manager, 'DATABASE_API_ROLE', api);
  await requireRole(manager, 'DATABASE_WORKER_ROLE', worker);
  await grantRights(manager, { ...(api && { api }), ...(worker && { worker }) });
}

async function requireRole(
  manager: EntityManager,
  variable: 'DATABASE_API_ROLE' | 'DATABASE_WORKER_ROLE',
  role: string | undefined,
): Promise<void> {
  if (role === undefined) return;
  const [found] = await manager.query<{ owns: boolean }[]>(
    // A member of the owner's role owns what that owns; a superuser is a member of all.
    `SELECT pg_has_role(rolname, current_user, 'MEMBER') AS owns FROM pg_roles WHERE rolname = $1`,
    [role],
  );
  if (!found) throw new InvalidConfigError(`configuration: ${variable}: there is no such role`);
  if (found.owns) {
    throw new InvalidConfigError(
      `configuration: ${variable}: must be no superuser, nor a member of the role that migrates`,
    );
  }
}
