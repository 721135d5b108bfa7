import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Given, migrate, readConfig, type Run, type Statement } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { TEST_DATABASE_PREFIX, testDatabaseUrl } from './environment.js';

/** A migrated database for one test file. */
export interface TestDatabase {
  /** Connects as its owner, who is not a superuser. */
  url: string;
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;
  run: Run;
  drop: () => Promise<void>;
}

/**
 * Creates a new database; {@link TestDatabase.drop} removes it. Copies the template that migrate has made for this run,
 * if there is one.
 * @param settings further variables for migrate; with any, nothing is copied
 * @param sql to run before migrate, into an empty database
 */
export function createTestDatabase(
  settings: Record<string, string> = {},
  sql?: string,
): Promise<TestDatabase> {
  const isCopy = Object.keys(settings).length === 0 && sql === undefined;
  return create(settings, sql, isCopy ? inject('template') : undefined);
}

/**
 * Creates an empty database with further options of CREATE DATABASE. @returns its address as an administrator
 */
export async function createEmptyDatabase(
  options: string,
): Promise<{ url: string; drop: () => Promise<void> }> {
  const admin = testDatabaseUrl().toString();
  const name = `${TEST_DATABASE_PREFIX}${randomBytes(6).toString('hex')}`;
  await runOn(admin, `CREATE DATABASE ${name} TEMPLATE template0 ${options}`);
  return {
    url: Object.assign(new URL(admin), { pathname: `/${name}` }).toString(),
    drop: async () => {
      await runOn(admin, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Creates the template of a run. No session may stay connected to it. @returns its name, and a function that drops it */
export async function createTemplate(): Promise<[string, () => Promise<void>]> {
  const { url, drop } = await create({});
  const { username } = new URL(url);
  // The new owner of a copy gets all that the owner of the template owns, so that must not include the template.
  await runOn(testDatabaseUrl().toString(), `ALTER DATABASE ${username} OWNER TO CURRENT_USER`);
  return [username, drop];
}

async function create(
  settings: Record<string, string>,
  sql?: string,
  template?: string,
): Promise<TestDatabase> {
  const admin = testDatabaseUrl();
  const name = `${TEST_DATABASE_PREFIX}${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const [api, worker] = [`${name}_api`, `${name}_worker`];
  await asAdmin(
    ...[name, api, worker].map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`),
    // For tests that watch or interrupt other sessions.
    `GRANT pg_monitor, pg_signal_backend TO ${name}`,
    // The creator must be a member of the owner's role, or a superuser.
    `GRANT ${name} TO CURRENT_USER`,
    `CREATE DATABASE ${name} OWNER ${name} TEMPLATE ${template ?? 'template1'}`,
  );
  if (template !== undefined) {
    const copy = Object.assign(new URL(admin), { pathname: `/${name}` });
    await runOn(copy.toString(), `REASSIGN OWNED BY ${template} TO ${name}`);
  }
  const own = new URL(admin);
  Object.assign(own, { username: name, password, pathname: `/${name}` });
  const url = own.toString();
  const roles = { DATABASE_API_ROLE: api, DATABASE_WORKER_ROLE: worker };
  const config = readConfig({ DATABASE_URL: url, ...roles, ...settings });
  if (sql !== undefined) await runOn(url, sql);
  const told: string[] = [];
  await migrate(config, contextSchemas, { print: (line) => told.push(line) });
  // What migrate asks an administrator to run.
  await asAdmin(...told.filter((line) => line.startsWith('ALTER ROLE')));
  // The roles of the processes have this as their setting.
  const path = settings.DATABASE_SCHEMA;
  const pool = new pg.Pool({
    connectionString: url,
    max: 5,
    ...(path !== undefined && { options: `-c search_path=${path}` }),
  });
  pool.on('error', () => undefined);
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    run: async <Values extends object, Row extends object>(
      { text, valuesOf }: Statement<Values, Row>,
      ...given: Given<Values>
    ) => (await pool.query<Row>(text, valuesOf(...given))).rows,
    drop: async () => {
      await pool.end();
      await asAdmin(
        `DROP DATABASE ${name} WITH (FORCE)`,
        ...[name, api, worker].map((role) => `DROP ROLE ${role}`),
      );
    },
  };

  async function asAdmin(...statements: string[]): Promise<void> {
    await runOn(admin.toString(), ...statements);
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The database that test databases are copied from; see {@link createTemplate}. */
    template: string;
  }
}

/** Runs statements on a connection of their own. @returns the rows of the last one */
export async function runOn<Row extends pg.QueryResultRow>(
  connectionString: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  let rows: Row[] = [];
  try {
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
