import type { DataSourceOptions } from 'typeorm';
import type { Config } from '../config/config.js';

/** How long a request waits for a connection before PostgreSQL counts as unavailable. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Closing a connection frees its prepared statements; the ones for past days are no longer used. */
const CONNECTION_LIFETIME_S = 3_600;

/** TypeORM's connection options: no session state and no start-up parameters (PgBouncer). */
export function dataSourceOptions(
  config: Config,
  extra: { query_timeout?: number } = {},
): DataSourceOptions {
  return {
    type: 'postgres',
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    // gen_random_uuid() is built in; TypeORM would otherwise try to create an extension.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    extra: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_S,
      keepAlive: true,
      ...extra,
    },
    // Called for an error on an idle connection. The pool has dropped it and will open another.
    poolErrorHandler: () => undefined,
  };
}
