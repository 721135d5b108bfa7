import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityManager, MigrationExecutor, type QueryRunner } from 'typeorm';
import { type Config, InvalidConfigError } from '../config/config.js';
import { connectOnce, dataSourceOptions } from './data-source-options.js';
import { commandsIn, type DatabaseSchema, OUR_SCHEMA_ONLY } from './database-schema.js';
import { isLockTimeout, isTransient } from './database-errors.js';
import { idSequencesToMove, useIdsOfGroup } from './id-ranges.js';
import { grantRights, applyRoleSettings, requireOwnRoles, SETTINGS_OF_MIGRATE } from './roles.js';
import { PROPERTIES_OF_DATABASE, requireSuitable } from './needed-settings.js';
import { runtimeSchema } from './runtime-schema.js';

/**
 * The advisory lock of the process that migrates. Any number, the same in every version and for all schemas, because two
 * processes cannot change the rights to one database at the same time.
 */
const MIGRATION_LOCK = 7_770_000;

/**
 * While ALTER TABLE waits for its lock, such as behind a pg_dump, other statements queue behind it. So it waits
 * briefly and retries after a pause.
 */
const LOCK_TIMEOUT = '2s';
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
const GIVE_UP_AFTER_MS = 300_000;

interface MigrateOptions {
  /** Called with a line when migrate has to wait, or when an administrator has to do something. */
  print?: (line: string) => void;
  /** How long to retry a step while others hold locks that it needs, in ms. */
  giveUpAfterMs?: number;
}

/**
 * Migrates the database to this version, and gives the roles of the processes their rights and timeouts.
 * Several processes may run it at the same time: one migrates, the others wait and find nothing to do.
 * @returns the names of the migrations that were run
 * @throws InvalidConfigError when a configured role or group is unsuitable; UnusableDatabaseError; Error when the database is newer than this
 * version, which does not know the rights that the newer one needs
 */
export async function migrate(
  config: Config,
  contexts: readonly DatabaseSchema[],
  { print = () => undefined, giveUpAfterMs = GIVE_UP_AFTER_MS }: MigrateOptions = {},
): Promise<string[]> {
  const own = { ...config, DATABASE_URL: config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL };
  // One connection, because the lock and the settings belong to its session.
  const schemas = [runtimeSchema, ...contexts];
  const source = new DataSource({
    ...dataSourceOptions({ ...own, DATABASE_POOL_SIZE: 1 }),
    migrations: schemas.flatMap(({ migrations }) => migrations),
    ...(config.DATABASE_SCHEMA !== undefined && { schema: config.DATABASE_SCHEMA }),
  });
  // The pool's error would not name a host that does not answer.
  await connectOnce(own);
  await source.initialize();
  const runner = source.createQueryRunner();
  const whenUnlocked = <Result>(step: () => Promise<Result>) =>
    retryWhileLocked(step, print, giveUpAfterMs);
  try {
    // The timeouts of the processes may apply here, because they may use the same role.
    await runner.query(SETTINGS_OF_MIGRATE);
    await requireProperties(runner);
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await runner.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    // Before the migrations, whose names are returned only if everything succeeds.
    await requireRole(runner.manager, 'DATABASE_API_ROLE', config.DATABASE_API_ROLE);
    await requireRole(runner.manager, 'DATABASE_WORKER_ROLE', config.DATABASE_WORKER_ROLE);
    const roles = await rolesOf(runner, config);
    await requireOwnRoles(runner, roles, config.DATABASE_SCHEMA);
    await useSchema(runner, config.DATABASE_SCHEMA);
    await idSequencesToMove(runner.manager, config.INSTALLATION_GROUP);
    const done = await runMigrations(source, runner, whenUnlocked);
    await whenUnlocked(() =>
      runner.manager.transaction((manager) => configure(manager, schemas, config)),
    );
    await applyRoleSettings(runner, roles, { schema: config.DATABASE_SCHEMA, print });
    return done;
  } finally {
    // The lock must not outlive this function in a pooled connection.
    await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await runner.release().finally(() => source.destroy());
  }
}

/** @throws UnusableDatabaseError before anything is created, because nothing can change these later */
async function requireProperties(runner: QueryRunner): Promise<void> {
  const [found] = (await runner.query(PROPERTIES_OF_DATABASE)) as [
    { properties: Record<string, string>; hasLanguage: boolean },
  ];
  requireSuitable(found.properties, found.hasLanguage);
}

/** Makes the configured schema if it is missing. From then on, the session finds and creates everything there. */
async function useSchema(runner: QueryRunner, schema: string | undefined): Promise<void> {
  if (schema === undefined) return;
  const found = (await runner.query('SELECT FROM pg_namespace WHERE nspname = $1', [
    schema,
  ])) as unknown[];
  if (found.length === 0) await runner.query(`CREATE SCHEMA "${schema}"`);
  await runner.query(`SET search_path = "${schema}"`);
}

/** Runs each migration in its own transaction, so that a retry skips the completed ones. */
async function runMigrations(
  source: DataSource,
  runner: QueryRunner,
  whenUnlocked: (step: () => Promise<unknown>) => Promise<unknown>,
): Promise<string[]> {
  const executor = new MigrationExecutor(source, runner);
  executor.transaction = 'each';
  const executed = await executor.getExecutedMigrations();
  requireKnown(
    executed.map(({ name }) => name),
    source.migrations.map(({ name }) => name!),
  );
  const pending = await executor.getPendingMigrations();
  await whenUnlocked(() => executor.executePendingMigrations());
  return pending.map((migration) => migration.name);
}

/**
 * A database may have migrations of released versions that have since become one with the first.
 * @throws Error if the last migration of the database is unknown
 */
function requireKnown(executed: readonly string[], known: readonly string[]): void {
  const last = latest(executed);
  if (last === undefined || known.includes(last)) return;
  const isNewer = last === latest([last, ...known]);
  const [is, remedy] = isNewer
    ? ['newer than', 'run migrate of the version that made it']
    : ['too old for', 'run migrate of version 1.1 first'];
  throw new Error(`The database is ${is} this version, which does not know ${last}: ${remedy}.`);
}

/** By the numbers at the end of their names. */
function latest(names: readonly string[]): string | undefined {
  return names.toSorted((one, other) => Number(other.slice(-13)) - Number(one.slice(-13)))[0];
}

async function retryWhileLocked<Result>(
  step: () => Promise<Result>,
  print: (line: string) => void,
  giveUpAfterMs: number,
): Promise<Result> {
  const start = performance.now();
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await step();
    } catch (cause) {
      if (!(isLockTimeout(cause) || isTransient(cause))) throw cause;
      if (performance.now() - start + waitMs > giveUpAfterMs) {
        const message =
          'Another transaction, such as a pg_dump, holds a lock that migrate needs. End it or wait for it, ' +
          'then run migrate again.';
        throw new Error(message, { cause });
      }
      print(
        `Another transaction holds a lock that migrate needs; retrying in ${waitMs / 1_000} s.`,
      );
      await sleep(waitMs);
    }
  }
}

/** Applies what only the owner of the database may change: functions, ranges of ids and rights. */
async function configure(
  manager: EntityManager,
  schemas: readonly DatabaseSchema[],
  config: Config,
): Promise<void> {
  await manager.query(OUR_SCHEMA_ONLY);
  for (const command of schemas.flatMap(({ script }) => commandsIn(script?.(config) ?? ''))) {
    await manager.query(command);
  }
  await useIdsOfGroup(manager, config);
  const { DATABASE_API_ROLE: api, DATABASE_WORKER_ROLE: worker } = config;
  await grantRights(manager, schemas, { ...(api && { api }), ...(worker && { worker }) });
}

/** The roles of API and worker; without a configured one, the current role. */
async function rolesOf(
  runner: QueryRunner,
  { DATABASE_API_ROLE, DATABASE_WORKER_ROLE }: Config,
): Promise<Set<string>> {
  const [row] = (await runner.query('SELECT current_user AS own')) as [{ own: string }];
  return new Set([DATABASE_API_ROLE ?? row.own, DATABASE_WORKER_ROLE ?? row.own]);
}

async function requireRole(
  manager: EntityManager,
  variable: 'DATABASE_API_ROLE' | 'DATABASE_WORKER_ROLE',
  role: string | undefined,
): Promise<void> {
  if (role === undefined) return;
  const [found] = await manager.query<{ owns: boolean }[]>(
    // A member of the owner's role has its ownership; a superuser counts as a member of every role.
    `SELECT pg_has_role(rolname, current_user, 'MEMBER') AS owns FROM pg_roles WHERE rolname = $1`,
    [role],
  );
  if (!found) throw new InvalidConfigError(`configuration: ${variable}: there is no such role`);
  if (found.owns) {
    throw new InvalidConfigError(
      `configuration: ${variable}: must not be a superuser or a member of the role that runs migrate`,
    );
  }
}
