export type { TaskWork } from './background/background-task.js';
export { BackgroundTasks } from './background/background-tasks.js';
export { STOP_SIGNALS } from './cluster/signals.js';
export type { Network } from './config/config-values.js';
export { type Config, CONFIG, InvalidConfigError, readConfig } from './config/config.js';
export {
  codeOf,
  isAway,
  isTransient,
  isUnavailable,
  translateDatabaseError,
} from './database/database-errors.js';
export { dataSourceOptions } from './database/data-source-options.js';
export { Database } from './database/database.js';
export { UnusableDatabaseError } from './database/needed-settings.js';
export { type DatabaseSchema, type Migration, migrationOf } from './database/database-schema.js';
export { GroupCommit } from './database/group-commit.js';
export { identityColumn } from './database/identity-column.js';
export { migrate } from './database/migrate.js';
export { type RowOf, withoutNulls } from './database/row.js';
export { runtimeSchema } from './database/runtime-schema.js';
export { waitForSchema, type WaitsFor } from './database/schema-gate.js';
export {
  type Given,
  type NoValues,
  prepared,
  type Run,
  statement,
  type Statement,
} from './database/statement.js';
export { TypeOrmTransactions } from './database/typeorm-transactions.js';
export { IdempotencyKeys, type KeyedRequest } from './idempotency/idempotency-keys.js';
export { listen } from './listen.js';
export { Log, NestLog } from './logging/log.js';
export { OutageLog } from './logging/outage-log.js';
export type { StartLog } from './logging/start-log.js';
export { PROCESS_ID } from './processes/process-id.js';
export { type Process, Processes } from './processes/processes.js';
export { RedisHealth } from './redis/redis-health.js';
export { RedisLimits } from './redis/redis-limits.js';
export { connectRedis, type RedisConnection } from './redis/redis.js';
export { RuntimeModule } from './runtime.module.js';
export { requireSecretsKeys, SecretsModule } from './secrets/secrets.module.js';
export { startProcess } from './start-process.js';
export { storeAddresses } from './store-addresses.js';
export { MetricsServer } from './telemetry/metrics-server.js';
export { Metrics } from './telemetry/metrics.js';
export { type SpanStart, Tracing } from './telemetry/tracing.js';
export { VERSION } from './version.js';
