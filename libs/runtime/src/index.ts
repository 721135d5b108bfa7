export { BackgroundTasks, type TaskWork } from './background-tasks.js';
export { listen, type StartLog, startProcess, STOP_SIGNALS } from './start-process.js';
export type { Network } from './config/config-values.js';
export {
  type Config,
  CONFIG,
  InvalidConfigError,
  readConfig,
  readConfigOf,
  settingsOf,
  storeAddresses,
} from './config/config.js';
export {
  codeOf,
  firstLine,
  isAway,
  isRowError,
  isTransient,
  isUnavailable,
  translateDatabaseError,
} from './database/database-errors.js';
export { connectOnce, dataSourceOptions } from './database/data-source-options.js';
export { Database } from './database/database.js';
export { UnusableDatabaseError } from './database/needed-settings.js';
export { type DatabaseSchema, identityColumn, migrationOf } from './database/database-schema.js';
export { idsContinueAfterImport } from './database/id-ranges.js';
export { GroupCommit, PAUSE } from './database/group-commit.js';
export { PostgresHosts } from './database/postgres-hosts.js';
export { migrate } from './database/migrate.js';
export {
  CLOCK,
  CLOCK_TIME,
  type Given,
  later,
  type NoValues,
  prepared,
  type RowOf,
  rowsFrom,
  type Run,
  statement,
  type Statement,
  withoutNulls,
} from './database/statement.js';
export { runtimeSchema } from './database/runtime-schema.js';
export { waitForSchema, type WaitsFor } from './database/schema-gate.js';
export { textArray } from './database/text-array.js';
export { TypeOrmTransactions } from './database/typeorm-transactions.js';
export { HostResources, keptConnections, warnOfFewFiles } from './host-resources.js';
export {
  DELETE_EXPIRED_KEYS,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  IdempotencyKeys,
  type KeyedRequest,
} from './idempotency-keys.js';
export { FailureLog } from './logging/failure-log.js';
export { Log, NestLog, OutageLog, PROCESS_NAME } from './logging/log.js';
export { PROCESS_ID } from './process-identity.js';
export { VERSION } from './config/version.js';
export { ALL_WORKERS_HOLD, type Process, Processes } from './processes.js';
export {
  connectRedis,
  readyRedis,
  type RedisConnection,
  RedisHealth,
  RedisLimits,
} from './redis/redis.js';
export { isUndone, refusalOf, UnusableRedisError } from './redis/redis-refusals.js';
export { RefusalLog } from './redis/refusal-log.js';
export { requireSecretsKeys, RuntimeModule, SecretsModule } from './runtime.module.js';
export { shortageOf, SHORTAGES } from './shortage.js';
export { Metrics, MetricsServer } from './telemetry/metrics.js';
export { type SpanStart, Tracing } from './telemetry/tracing.js';
