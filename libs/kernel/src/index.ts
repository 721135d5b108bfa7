export { actAs, type Actor, identifyActor } from './audit/actor.js';
export { type AuditEntry, AuditTrail, recordBySystem } from './audit/audit-trail.js';
export type { BackgroundTask, TaskOptions, TaskWork } from './background/background-task.js';
export { BackgroundTasks } from './background/background-tasks.js';
export { CONFIG, type Config, InvalidConfigError, readConfig } from './config/config.js';
export type { Network, RateLimit } from './config/config-values.js';
export { ConfigModule } from './config/config.module.js';
export { apiAddressFromEnvironment, configFromEnvironment } from './config/environment.js';
export { keepNewest } from './collections/keep-newest.js';
export { Recent } from './collections/recent.js';
export { RoundRobin } from './collections/round-robin.js';
export { LoopTurns } from './concurrency/loop-turns.js';
export { Turns } from './concurrency/turns.js';
export { Database, type Statement } from './database/database.js';
export {
  codeOf,
  isAway,
  isDataError,
  isTransient,
  isUnavailable,
  translateDatabaseError,
} from './database/database-errors.js';
export { GroupCommit } from './database/group-commit.js';
export { identityColumn } from './database/identity-column.js';
export { migrate } from './database/migrate.js';
export { PartitionKeeper } from './database/partitions.js';
export {
  BusyError,
  DomainError,
  type ErrorCode,
  type FieldCode,
  type FieldFault,
  ForbiddenError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  UnavailableError,
  ValidationError,
} from './errors/domain-error.js';
export { IdempotencyKeys } from './idempotency/idempotency-keys.js';
export { KernelModule } from './kernel.module.js';
export { Log } from './logging/log.js';
export { Presence } from './logging/presence.js';
export { LOOKED_AT, type LookedAt, lookUpTo } from './paging/look-up-to.js';
export type { Found, Page } from './paging/page.js';
export { isRedisUnavailable } from './redis/redis-errors.js';
export { connectRedis, type RedisConnection } from './redis/redis.js';
export { RedisLimits } from './redis/redis-limits.js';
export { isNumericId, isUuid, numericIdOf } from './text/identifiers.js';
export {
  SecretBox,
  type Sealed,
  type SecretKey,
  UnreadableSecretError,
} from './secrets/secret-box.js';
export { SecretsModule } from './secrets/secrets.module.js';
export { tooDeepAt } from './text/json-limits.js';
export { rawElements, rawMember } from './text/json-members.js';
export { hasLength, inHttp, isHttpUrl, isUrl, MAX_URL } from './text/http-url.js';
export { jsonText, RawJson } from './text/raw-json.js';
export { startProcess } from './start-process.js';
export { codePoints, isPrintable, isStorable } from './text/well-formed.js';
export { Transactions } from './database/transactions.js';
export { addressGroup, siteOf } from './network/address-group.js';
export {
  isCallableAddress,
  isCallablePort,
  type OutboundPolicy,
  isPublicAddress,
} from './network/outbound-policy.js';
export { Metrics } from './telemetry/metrics.js';
export { type Span, type SpanStart, Tracing } from './telemetry/tracing.js';
