import type { EntityManager, QueryRunner } from 'typeorm';
import { codeOf } from './database-errors.js';
import type { DatabaseSchema, Process } from './database-schema.js';
import { isInPath, PINNED } from './needed-settings.js';
import { InvalidConfigError } from '../config/config.js';

/** The quoted name of this database if the current role is its owner, who alone may change it. */
async function ownDatabase(manager: EntityManager): Promise<string | undefined> {
  const [database] = await manager.query<{ name: string }[]>(
    `SELECT quote_ident(datname) AS name FROM pg_database
     WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')`,
  );
  return database?.name;
}

/**
 * Grants exactly these rights to the processes' roles alone, in the transaction of `manager`, so that no session
 * sees them missing. If there are such roles, only the owner of the database may create temporary tables.
 * @param roles the role name of each process; a process without one gets no rights
 */
export async function grantRights(
  manager: EntityManager,
  schemas: readonly DatabaseSchema[],
  roles: Readonly<Partial<Record<Process, string>>>,
): Promise<void> {
  const named = Object.entries(roles) as [Process, string][];
  if (named.length > 0) await revokeTemporary(manager, Object.values(roles).map(quoted));
  await grantSchema(manager, Object.values(roles).map(quoted));
  const objects = schemas.flatMap(({ tables, functions = {} }) => [
    ...Object.entries(tables).map(([name, rights]) => [`TABLE ${name}`, rights] as const),
    ...Object.entries(functions).map(([name, rights]) => [`FUNCTION ${name}`, rights] as const),
  ]);
  for (const name of schemas.flatMap(({ functions = {} }) => Object.keys(functions))) {
    await manager.query(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
  }
  for (const [object, rights] of objects) {
    // Revoke from all roles before granting, because the processes may share one.
    for (const [, role] of named) {
      await manager.query(`REVOKE ALL ON ${object} FROM ${quoted(role)}`);
    }
    for (const [process, role] of named) {
      if (rights[process] === undefined) continue;
      await manager.query(`GRANT ${rights[process]} ON ${object} TO ${quoted(role)}`);
    }
  }
}

/**
 * By default every role may create temporary tables and so fill the disk. Only the owner of the database can
 * revoke that.
 */
async function revokeTemporary(manager: EntityManager, roles: readonly string[]): Promise<void> {
  const database = await ownDatabase(manager);
  if (database === undefined) return;
  const all = ['PUBLIC', ...roles].join(', ');
  await manager.query(`REVOKE TEMPORARY ON DATABASE ${database} FROM ${all}`);
}

/** Lets roles use our schema, as all may use `public`, and no sequence in it: identity columns advance theirs without any rights. */
async function grantSchema(manager: EntityManager, roles: readonly string[]): Promise<void> {
  const [schema] = await manager.query<{ name: string; isGranted: boolean }[]>(
    `SELECT quote_ident(nspname) AS name, nspname <> 'public' AND pg_has_role(nspowner, 'USAGE') AS "isGranted"
     FROM pg_namespace WHERE nspname = current_schema()`,
  );
  for (const role of roles) {
    if (schema?.isGranted) await manager.query(`GRANT USAGE ON SCHEMA ${schema.name} TO ${role}`);
    await manager.query(`REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${schema?.name} FROM ${role}`);
  }
}

function quoted(role: string): string {
  return `"${role.replaceAll('"', '""')}"`;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * PostgreSQL's own timeouts, so that a process that hangs cannot block others. They are role settings, because
 * PgBouncer in transaction mode supports neither session settings nor start-up parameters.
 * tools/database/roles.sql has the same values.
 */
export const TIME_LIMITS = {
  // The driver gives up after 15 s (runtime.module.ts); the server must have stopped by then.
  statement_timeout: '14s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

/**
 * The settings of each process's role. Every query of the processes has an index in the order that it needs.
 * A plan made while a table is small may use a sequential scan or a sort, and stays cached when the table has
 * grown: without `enable_seqscan` and `enable_sort` off, a burst of 100,000 deliveries took 59 s instead of 16.
 * These make plans look so expensive that PostgreSQL would compile them at each execution, 0.7 s for an event,
 * so `jit` is off, with {@link switchOffJit} for the whole database if possible.
 *
 * The others are PostgreSQL's defaults, which a setting of the database or the server may have changed.
 */
const ROLE_SETTINGS: Readonly<Record<string, string>> = {
  ...TIME_LIMITS,
  enable_seqscan: 'off',
  enable_sort: 'off',
  jit: 'off',
  ...PINNED,
  // A statement would plan, and lock, the partitions of all days.
  enable_partition_pruning: 'on',
  plan_cache_mode: 'auto',
  // The pool keeps idle connections, and TIME_LIMITS bound the others. PostgreSQL 16 has no transaction_timeout.
  idle_session_timeout: '0',
  transaction_timeout: '0',
};

/** The settings of `migrate`: no timeouts, and the values that it needs itself. */
export const SETTINGS_OF_MIGRATE = [
  ...Object.keys(TIME_LIMITS).map((name) => `SET ${name} = 0`),
  'SET enable_seqscan = on; SET enable_sort = on',
  ...Object.entries(PINNED).map(([name, value]) => `SET ${name} = '${value}'`),
].join('; ');

/**
 * The settings ($2) known to this PostgreSQL that the role $1 lacks in this database. An administrator's own
 * values stay. A role needs no `jit` of its own if the database has one.
 */
const MISSING = `
SELECT limits.name, quote_ident($1) AS role, quote_ident(current_database()) AS database
FROM unnest($2::text[]) AS limits(name) JOIN pg_settings USING (name)
WHERE NOT EXISTS (
  SELECT FROM pg_db_role_setting s
  LEFT JOIN pg_roles r ON r.oid = s.setrole
  LEFT JOIN pg_database d ON d.oid = s.setdatabase
  CROSS JOIN unnest(s.setconfig) AS setting
  WHERE lower(split_part(setting, '=', 1)) = lower(limits.name) AND CASE
    WHEN s.setrole = 0 THEN limits.name = 'jit' AND d.datname = current_database()
    ELSE r.rolname = $1 AND (s.setdatabase = 0 OR d.datname = current_database())
  END
)`;

const DATABASE_HAS_JIT = `
SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
CROSS JOIN unnest(s.setconfig) AS setting
WHERE s.setrole = 0 AND d.datname = current_database() AND setting LIKE 'jit=%'`;

/** Switches `jit` off for this database. Its owner may do so even if it may not change the processes' roles. */
async function switchOffJit(runner: QueryRunner): Promise<void> {
  const database = await ownDatabase(runner.manager);
  if (database === undefined) return;
  const found = (await runner.query(DATABASE_HAS_JIT)) as unknown[];
  if (found.length === 0) await runner.query(`ALTER DATABASE ${database} SET jit = 'off'`);
}

/** The statements that add a role's missing settings, for this database only. */
async function missingSettings(
  runner: QueryRunner,
  role: string,
  wanted: Readonly<Record<string, string>>,
): Promise<string[]> {
  const rows = (await runner.query(MISSING, [role, Object.keys(wanted)])) as {
    name: string;
    role: string;
    database: string;
  }[];
  return rows.map(
    (row) =>
      `ALTER ROLE ${row.role} IN DATABASE ${row.database} SET ${row.name} = '${wanted[row.name]!}'`,
  );
}

/** The search_path that the role $1 has in this database, and our schema: $2, if one is configured. */
const PATH_OF_ROLE = `
SELECT coalesce($2, current_schema()) AS schema, (
  SELECT substr(setting, strpos(setting, '=') + 1)
  FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS setting
  WHERE setting LIKE 'search_path=%' AND s.setrole = (SELECT oid FROM pg_roles WHERE rolname = $1)
    AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  ORDER BY s.setdatabase <> 0 DESC LIMIT 1
) AS path`;

/**
 * Two installations in one database cannot share roles, because a role finds its tables by its search_path.
 * @throws InvalidConfigError if a role has a search_path without our schema
 */
export async function requireOwnRoles(
  runner: QueryRunner,
  roles: ReadonlySet<string>,
  schema: string | undefined,
): Promise<void> {
  for (const role of roles) {
    const [row] = (await runner.query(PATH_OF_ROLE, [role, schema])) as [
      { schema: string; path: string | null },
    ];
    if (isInPath(row.schema, row.path ?? undefined, role)) continue;
    throw new InvalidConfigError(
      `configuration: DATABASE_SCHEMA: the role ${role} has the search_path "${row.path ?? ''}" in this database, ` +
        `which leads to other tables than those in "${row.schema}"; each schema needs roles of its own`,
    );
  }
}

/**
 * Sets the roles' timeouts and planner settings, and where they find their tables if a schema is configured.
 * @param print called with the statements that an administrator has to run if this role may not
 */
export async function applyRoleSettings(
  runner: QueryRunner,
  roles: ReadonlySet<string>,
  { schema, print }: { schema: string | undefined; print: (line: string) => void },
): Promise<void> {
  await switchOffJit(runner);
  const wanted = { ...ROLE_SETTINGS, ...(schema !== undefined && { search_path: schema }) };
  for (const role of roles) {
    const missing = await missingSettings(runner, role, wanted);
    try {
      for (const sql of missing) await runner.query(sql);
    } catch (error) {
      if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
      const what = `The role ${role} lacks settings that migrate is not allowed to change.`;
      print(`${what} Ask an administrator to run:`);
      // Each in a line of its own, so that they can be copied or piped into psql.
      for (const sql of missing) print(`${sql};`);
    }
  }
}
