import type { DataSourceOptions } from 'typeorm';
import type { Config } from '../config/config.js';

/** How long a request waits for a connection before it is told that PostgreSQL is away. */
const CONNECT_TIMEOUT_MS = 3_000;

/** With a connection go its prepared statements, of which those of past days are used no more. */
const CONNECTION_LIFETIME_S = 3_600;

/** How TypeORM reaches PostgreSQL: no session state and no start-up parameters (PgBouncer). */
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
    // An error on an idle connection: the pool has dropped it and will open another.
    poolErrorHandler: () => undefined,
  };
}
