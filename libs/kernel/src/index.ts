export { LRUCache } from 'lru-cache';
export { actAs, type Actor, AsyncContext, currentActor } from './actor.js';
export { evictOldest, groupBy, swapRemove, RoundRobin } from './collections.js';
export { FairScheduler } from './fair-scheduler.js';
export { HOLD_CAUSES, type HoldCause, OWN_FAULTS, type OwnFault } from './own-faults.js';
export { FairSemaphore } from './fair-semaphore.js';
export { Pacer } from './pacer.js';
export {
  BusyError,
  DomainError,
  type ErrorKind,
  type FieldCode,
  type FieldFault,
  ForbiddenError,
  InternalError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  UnavailableError,
  ValidationError,
} from './errors.js';
export { addressGroup, siteOf } from './address-group.js';
export {
  type Found,
  MAX_JUDGED_ROWS,
  MAX_RETURNED_BYTES,
  MAX_SCANNED_BYTES,
  MAX_SCANNED_ROWS,
  type JudgedRow,
  scanJudged,
  type ScannedRow,
  scanPage,
  type Page,
} from './paging.js';
export { type AuditEntry, AuditTrail, Transactions } from './ports.js';
export { EVERY_ACCOUNT, type Scope } from './scope.js';
export { type Sealed, SecretBox, type SecretKey, UnreadableSecretError } from './secret-box.js';
export {
  BIDI_CONTROLS,
  bidiFaults,
  codePoints,
  inHttp,
  isNumericId,
  isStorable,
  isUuid,
  numericIdOf,
  hasRawLogin,
} from './text.js';
export {
  jsonText,
  MemberCursor,
  rawElements,
  RawJson,
  rawMember,
  rawMembers,
  valueEnd,
} from './json.js';
export { jsonErrorAt, type JsonPart, JsonReader, stringIn } from './json-reader.js';
export { JsonSyntaxError, TooManyValuesError } from './json-scanner.js';
export {
  Field,
  type FieldContext,
  type FieldDescription,
  type FieldOptions,
  fieldsOf,
  IdField,
  readFields,
  trimmed,
} from './field.js';
export { importedId, readRecords, recordFault } from './import-record.js';
export { faultAt, inside, pointerTo, type Problem, refuse } from './problem.js';
export {
  anyObject,
  isEmptyArray,
  flag,
  httpUrl,
  integer,
  INTEGER_TOO,
  isObject,
  isStringOrNumber,
  label,
  listOf,
  numericId,
  objectText,
  oneOf,
  requireValid,
  type Schema,
  storableText,
  string,
  text,
  time,
  typed,
  url,
  type Validator,
  validatorOf,
  wordOf,
  wholeNumber,
} from './validator.js';
export { CURSOR_RULE, parseTime, TIME_RULE, timeOfId } from './time.js';
export { SharedCache } from './shared-cache.js';
export { atOnce, inSlices, type Steps } from './time-slices.js';
