export { actAs, type Actor, beginAs, identifyActor, presentActor } from './audit/actor.js';
export { type AuditEntry, AuditTrail, recordBySystem } from './audit/audit-trail.js';
export type { TaskWork } from './background/background-task.js';
export { BackgroundTasks } from './background/background-tasks.js';
export { keepNewest } from './collections/keep-newest.js';
export { Recent } from './collections/recent.js';
export { RoundRobin } from './collections/round-robin.js';
export { LoopTurns } from './concurrency/loop-turns.js';
export { Turns } from './concurrency/turns.js';
export type { RateLimit } from './config/config-values.js';
export { type Config, CONFIG, InvalidConfigError, readConfig } from './config/config.js';
export { apiAddressFromEnvironment, configFromEnvironment } from './config/environment.js';
export {
  codeOf,
  isAway,
  isTransient,
  isUnavailable,
  translateDatabaseError,
} from './database/database-errors.js';
export { Database, type Statement } from './database/database.js';
export { GroupCommit } from './database/group-commit.js';
export { identityColumn } from './database/identity-column.js';
export { migrate } from './database/migrate.js';
export { PartitionKeeper } from './database/partitions.js';
export { Transactions } from './database/transactions.js';
export {
  BusyError,
  DomainError,
  type ErrorCode,
  type ErrorKind,
  type FieldCode,
  type FieldFault,
  ForbiddenError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  UnavailableError,
  ValidationError,
} from './errors/domain-error.js';
export { IdempotencyKeys, type KeyedRequest } from './idempotency/idempotency-keys.js';
export { KernelModule } from './kernel.module.js';
export { Log, NestLog } from './logging/log.js';
export { Presence } from './logging/presence.js';
export { StartLog } from './logging/start-log.js';
export { addressGroup, siteOf } from './network/address-group.js';
export {
  isCallableAddress,
  isCallablePort,
  isPublicAddress,
  type OutboundPolicy,
} from './network/outbound-policy.js';
export { LOOKED_AT, type LookedAt, lookUpTo } from './paging/look-up-to.js';
export type { Found, Page } from './paging/page.js';
export { RedisHealth } from './redis/redis-health.js';
export { RedisLimits } from './redis/redis-limits.js';
export { connectRedis, type RedisConnection } from './redis/redis.js';
export {
  type Sealed,
  SecretBox,
  type SecretKey,
  UnreadableSecretError,
} from './secrets/secret-box.js';
export { SecretsModule } from './secrets/secrets.module.js';
export { startProcess } from './start-process.js';
export { MetricsServer } from './telemetry/metrics-server.js';
export { Metrics } from './telemetry/metrics.js';
export { type SpanStart, Tracing } from './telemetry/tracing.js';
export {
  hasLength,
  HTTP_SCHEMES,
  inHttp,
  isHttpUrl,
  isTooLongForUrl,
  isUrl,
  MAX_URL,
} from './text/http-url.js';
export { isNumericId, isUuid, numericIdOf } from './text/identifiers.js';
export { tooDeepAt, tooManyValuesAt } from './text/json-limits.js';
export { rawElements, rawMember } from './text/json-members.js';
export { jsonText, RawJson } from './text/raw-json.js';
export { codePoints, isPrintable, isStorable } from './text/well-formed.js';
