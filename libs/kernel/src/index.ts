export { LRUCache } from 'lru-cache';
export { actAs, type Actor, presentActor } from './actor/actor.js';
export { AsyncContext } from './actor/async-context.js';
export { importedId, ImportRecord, recordFault } from './checks/import-record.js';
export {
  anyObject,
  faultAt,
  flag,
  httpUrl,
  inside,
  integer,
  INTEGER_TOO,
  isObject,
  isStringOrNumber,
  label,
  listOf,
  numericId,
  oneOf,
  type Part,
  partOf,
  pointerTo,
  type Problem,
  requireValid,
  type Schema,
  storableText,
  string,
  text,
  time,
  typed,
  url,
  wordOf,
} from './checks/part.js';
export { keepNewest } from './collections/keep-newest.js';
export { removeFrom } from './collections/remove-from.js';
export { RoundRobin } from './collections/round-robin.js';
export { LoopPacer } from './concurrency/loop-pacer.js';
export { FairSemaphore } from './concurrency/fair-semaphore.js';
export {
  BusyError,
  DomainError,
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
export { addressGroup, siteOf } from './network/address-group.js';
export { LOOKED_AT, type LookedAt, lookUpTo } from './paging/look-up-to.js';
export type { Found, Page } from './paging/page.js';
export { type AuditEntry, AuditTrail } from './ports/audit-trail.js';
export { Transactions } from './ports/transactions.js';
export {
  type Sealed,
  SecretBox,
  type SecretKey,
  UnreadableSecretError,
} from './secrets/secret-box.js';
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
export { jsonErrorAt } from './text/json-syntax.js';
export { parseTime, TIME_RULE } from './text/time.js';
export { jsonText, RawJson } from './text/raw-json.js';
export {
  BIDI_CONTROLS,
  BIDI_RULE,
  bidiFaults,
  codePoints,
  hasBidiControl,
  isPrintable,
  isStorable,
} from './text/well-formed.js';
