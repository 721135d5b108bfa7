import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import { type Log, OutageLog } from '../logging/log.js';
import { dataSourceOptions } from './data-source-options.js';
import { codeOf, isUnavailable, UNDEFINED_TABLE } from './database-errors.js';
import { warnOfDoubts } from './database-doubts.js';
import type { DatabaseSchema } from './database-schema.js';
import { requireNoFeatures, USED_FEATURES } from './features.js';
import { UnusableDatabaseError } from './needed-settings.js';
import { postgresAddressOf } from './postgres-address.js';
import { runtimeSchema } from './runtime-schema.js';

const POLL_MS = 1_000;
const SILENCE_MS = 5_000;

/** `migrate` has not granted the role its rights. */
const INSUFFICIENT_PRIVILEGE = '42501';

const CANNOT_READ =
  'this role cannot read the version of the schema: run migrate with DATABASE_API_ROLE and DATABASE_WORKER_ROLE';

const UNVERIFIED =
  'the certificate of PostgreSQL is not verified: use sslmode=verify-full in DATABASE_URL';

/** Why a process waits before it starts. */
export type WaitsFor = 'postgres' | 'schema';

/**
 * Waits until the database has every migration that this version knows. It may have more, because
 * neighbouring versions can share a database.
 * @param waiting called before each wait, with what administrators may have to do
 * @throws the driver's error when a retry does not help, such as for a wrong password, and an error if the database
 * uses a feature that this version does not know
 */
export async function waitForSchema(
  config: Config,
  contexts: readonly DatabaseSchema[],
  log: Log,
  waiting: (reason: WaitsFor, why?: string) => Promise<void>,
): Promise<void> {
  const schemas = [runtimeSchema, ...contexts];
  const known = schemas.flatMap(({ migrations }) =>
    migrations.map((migration) => new migration().name ?? ''),
  );
  const { ssl } = postgresAddressOf(config.DATABASE_URL);
  if (ssl && ssl.rejectUnauthorized === false) log.warn({}, UNVERIFIED);
  const outages = new OutageLog('PostgreSQL', log);
  let told = '';
  const warnOnce = (fields: object, message: string): void => {
    if (message !== told) log.warn(fields, message);
    told = message;
  };
  for (;;) {
    let reason: WaitsFor;
    let why: string | undefined;
    try {
      const missing = await missingMigrations(config, known, log);
      outages.back();
      if (missing.length === 0) return;
      warnOnce({ missing }, 'waiting for the database schema: run migrate');
      reason = 'schema';
    } catch (error) {
      if (codeOf(error) === INSUFFICIENT_PRIVILEGE) {
        outages.back();
        warnOnce({ err: error }, CANNOT_READ);
        reason = 'schema';
      } else if (isUnavailable(error)) {
        outages.away(error);
        reason = 'postgres';
        if (error instanceof UnusableDatabaseError) why = error.message;
      } else throw error;
    }
    await waiting(reason, why);
    await sleep(POLL_MS);
  }
}

/** Also logs what may be wrong with a database that lacks none. */
async function missingMigrations(
  config: Config,
  migrations: readonly string[],
  log: Log,
): Promise<string[]> {
  const options = dataSourceOptions({ ...config, DATABASE_POOL_SIZE: 1 }, SILENCE_MS);
  const source = new DataSource(options);
  await source.initialize();
  try {
    const rows = await source.query<{ name: string }[]>('SELECT name FROM migrations');
    const executed = new Set(rows.map(({ name }) => name));
    const missing = migrations.filter((name) => !executed.has(name));
    if (missing.length > 0) return missing;
    requireNoFeatures(await source.query<{ name: string }[]>(USED_FEATURES));
    await warnOfDoubts(source, config, log);
    return [];
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return [...migrations];
    throw error;
  } finally {
    await source.destroy();
  }
}
