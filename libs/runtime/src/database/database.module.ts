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
 * A statement without an answer for so long has lost its server, which would have broken it off by then
 * (time-limits.ts): its connection is dropped.
 */
const QUERY_TIMEOUT_MS = 15_000;

/** One pool of PostgreSQL connections for TypeORM and {@link Database}, and what stands on them. */
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
        // A wrong password or a missing database does not mend itself.
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
