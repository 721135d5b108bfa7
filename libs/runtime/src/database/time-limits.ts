import type { QueryRunner } from 'typeorm';
import { codeOf } from './database-errors.js';

/** SQLSTATE of what the role may not do. */
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * What PostgreSQL breaks off by itself, so that no process that hangs or is frozen keeps others waiting.
 * They are settings of roles: PgBouncer in transaction mode lets a session have none, nor a start-up
 * parameter. tools/database/roles.sql has the same.
 */
export const TIME_LIMITS = {
  // The driver gives up after 15 s (database.module.ts); the server must not go on with it.
  statement_timeout: '14s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

/**
 * What each role of a process has set. All that the processes ask for has an index in the order that they
 * ask for. A plan that is made while a table is small may read it whole, or sort what another index finds,
 * and outlives that: without these, a burst of 100,000 deliveries took 59 s instead of 16.
 */
export const ROLE_SETTINGS = { ...TIME_LIMITS, enable_seqscan: 'off', enable_sort: 'off' };

/** For a session of a role with such settings that takes as long as it takes. */
export const NO_TIME_LIMITS = [
  ...Object.keys(TIME_LIMITS).map((name) => `SET ${name} = 0`),
  'SET enable_seqscan = on; SET enable_sort = on',
].join('; ');

/** Those of its settings that the role $1 lacks in this database; what an administrator has set stays. */
const MISSING = `
SELECT limits.name, quote_ident($1) AS role, quote_ident(current_database()) AS database
FROM unnest($2::text[]) AS limits(name)
WHERE NOT EXISTS (
  SELECT FROM pg_db_role_setting s
  JOIN pg_roles r ON r.oid = s.setrole
  LEFT JOIN pg_database d ON d.oid = s.setdatabase
  CROSS JOIN unnest(s.setconfig) AS setting
  WHERE r.rolname = $1 AND (s.setdatabase = 0 OR d.datname = current_database())
    AND split_part(setting, '=', 1) = limits.name
)`;

/** The statements that give a role those settings that it has not, in this database alone. */
async function missingLimits(runner: QueryRunner, role: string): Promise<string[]> {
  const rows = (await runner.query(MISSING, [role, Object.keys(ROLE_SETTINGS)])) as {
    name: keyof typeof ROLE_SETTINGS;
    role: string;
    database: string;
  }[];
  return rows.map(
    (row) =>
      `ALTER ROLE ${row.role} IN DATABASE ${row.database} SET ${row.name} = '${ROLE_SETTINGS[row.name]}'`,
  );
}

/**
 * Gives the roles their limits, and keeps them from reading whole tables.
 * @param tell is told what an administrator has to do where this role may not
 */
export async function limitTimes(
  runner: QueryRunner,
  roles: ReadonlySet<string>,
  tell: (line: string) => void,
): Promise<void> {
  for (const role of roles) {
    const missing = await missingLimits(runner, role);
    try {
      for (const sql of missing) await runner.query(sql);
    } catch (error) {
      if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
      const what = `The role ${role} lacks settings, and migrate may not give it them.`;
      tell(`${what} Let an administrator run: ${missing.join('; ')};`);
    }
  }
}
