import type { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import type { Log } from '../logging/log.js';

const DOUBTS = `
SELECT CASE WHEN NOT r.rolsuper THEN
    least(nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)) END AS connections,
  d.datcollversion AS "madeWith", pg_database_collation_actual_version(d.oid) AS "runsWith"
FROM pg_database d CROSS JOIN pg_roles r
WHERE d.datname = current_database() AND r.rolname = session_user`;

interface Doubts {
  /** How many connections the role, and all roles together, may have to this database; null without a limit. */
  connections: number | null;
  /** Versions of the collation by which indexes are sorted; null if it never changes. */
  madeWith: string | null;
  runsWith: string | null;
}

/** Logs what a process can start with, but what may harm it later. */
export async function warnOfDoubts(source: DataSource, config: Config, log: Log): Promise<void> {
  const [found] = await source.query<Doubts[]>(DOUBTS);
  if (!found) return;
  const { connections: allowed, madeWith, runsWith } = found;
  const { DATABASE_POOL_SIZE: needed, DATABASE_PREPARED_STATEMENTS: isDirect } = config;
  // PgBouncer shares few connections among many.
  if (isDirect && allowed !== null && allowed < needed) {
    log.warn({ allowed, needed }, 'PostgreSQL allows fewer connections than DATABASE_POOL_SIZE');
  }
  if (madeWith !== null && runsWith !== null && madeWith !== runsWith) {
    log.warn({ madeWith, runsWith }, 'the collation of the database has another version: reindex');
  }
}
