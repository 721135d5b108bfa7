import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Transactions } from '#libs/kernel';
import { CONFIG, type Config } from '../config/config.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.js';
import { dataSourceOptions } from './data-source-options.js';
import { isUnavailable } from './database-errors.js';
import { Database } from './database.js';
import { TypeOrmTransactions } from './typeorm-transactions.js';

/**
 * A statement without an answer for this long has lost its server, which would have cancelled it earlier
 * (time-limits.ts), so its connection is dropped.
 */
const QUERY_TIMEOUT_MS = 15_000;

/** One PostgreSQL connection pool for TypeORM and {@link Database}, and the services that use it. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [CONFIG],
      useFactory: (config: Config) => ({
        ...dataSourceOptions(config, { query_timeout: QUERY_TIMEOUT_MS }),
        autoLoadEntities: true,
        retryAttempts: 30,
        retryDelay: 1_000,
        verboseRetryLog: true,
        // A retry does not help against a wrong password or a missing database.
        toRetry: isUnavailable,
      }),
    }),
  ],
  providers: [
    Database,
    TypeOrmTransactions,
    { provide: Transactions, useExisting: TypeOrmTransactions },
    IdempotencyKeys,
  ],
  exports: [Database, TypeOrmTransactions, Transactions, IdempotencyKeys],
})
export class DatabaseModule {}
