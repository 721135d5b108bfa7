import pg, { type Client } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import type { Config } from '../config/config.js';
import { codeOf, UNDEFINED_TABLE } from './database-errors.js';
import { requireNoFeatures, USED_FEATURES } from './features.js';
import { CURRENT_SETTINGS, type CurrentSettings, requireFit } from './needed-settings.js';
import { postgresAddressOf } from './postgres-address.js';
import { clientFor } from './postgres-client.js';
import { CONNECT_TIMEOUT_MS, PostgresHosts, streamOf } from './postgres-hosts.js';

/** Closing a connection frees its prepared statements, such as those for past days. */
const CONNECTION_LIFETIME_S = 3_600;

/**
 * TypeORM's connection options: no session state and no start-up parameters (PgBouncer).
 * @param silenceMs for a process: closes a connection after this long without an answer, and checks the settings of
 * each session; `migrate` leaves it out
 * @param hosts those of `DATABASE_URL`
 */
export function dataSourceOptions(
  config: Config,
  silenceMs?: number,
  hosts = new PostgresHosts(postgresAddressOf(config.DATABASE_URL)),
): DataSourceOptions {
  const { address } = hosts;
  return {
    type: 'postgres',
    // TypeORM would look for the driver at run time, outside of our bundle.
    driver: pg,
    // Only for its database; the client has the addresses.
    url: address.urls[0] ?? '',
    poolSize: config.DATABASE_POOL_SIZE,
    // gen_random_uuid() is built in; TypeORM would otherwise try to create an extension.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    extra: {
      Client: clientFor(address, hosts),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_S,
      keepAlive: true,
      ...(silenceMs !== undefined && {
        // Before it counts as silent. The default is 10 s, and tasks that run as often would open it each time.
        idleTimeoutMillis: 0.8 * silenceMs,
        onConnect: forProcess(silenceMs, config),
      }),
    },
    // Called for an error on an idle connection. The pool has dropped it and will open another.
    poolErrorHandler: () => undefined,
  };
}

/**
 * Connects without any retry.
 * @throws the driver's error if PostgreSQL cannot be used now; Error if it uses features that this version does not know
 */
export async function connectOnce({ DATABASE_URL, DATABASE_SCHEMA }: Config): Promise<void> {
  const client = new (clientFor(postgresAddressOf(DATABASE_URL)))();
  await client.connect();
  try {
    if (DATABASE_SCHEMA !== undefined) await client.query(`SET search_path = "${DATABASE_SCHEMA}"`);
    requireNoFeatures((await client.query<{ name: string }>(USED_FEATURES)).rows);
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
  } finally {
    await client.end();
  }
}

function forProcess(silenceMs: number, { DATABASE_SCHEMA }: Config) {
  const closeSilent = closeWhenSilent(silenceMs);
  return async (client: Client): Promise<void> => {
    closeSilent(client);
    const { rows } = await client.query<CurrentSettings>(CURRENT_SETTINGS);
    for (const settings of rows) requireFit(settings, DATABASE_SCHEMA);
  };
}

/**
 * The pool closes an unused connection earlier, so a silent one is waiting for an answer. The driver's own
 * `query_timeout` sets a timer for each statement, whose closures keep its rows in memory until a full garbage
 * collection.
 */
function closeWhenSilent(ms: number) {
  return (client: Client): void => {
    const stream = streamOf(client);
    const close = () => stream.destroy(new Error(`PostgreSQL was silent for ${String(ms)} ms`));
    stream.setTimeout(ms, close);
  };
}
