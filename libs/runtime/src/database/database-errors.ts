import { DomainError, UnavailableError } from '#libs/kernel';

const LOST_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The server's time limits: of a statement, and of a transaction that did nothing. */
const BROKEN_OFF = new Set(['57014', '25P03']);

/** The driver's own errors, which carry no code. */
const LOST_CONNECTION_TEXT =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable|pool after calling end/i;

/** The SQLSTATE of an error of PostgreSQL, else the code of the operating system, else ''. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Whether PostgreSQL could not be reached, or is starting, stopping or out of resources. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST_CONNECTION.has(code)) return true;
  // 08 connection, 53 resources, 57P0x shutdown and start, 58 system, 25006 a standby.
  if (/^(?:08|53|57P0|58)/.test(code) || code === '25006') return true;
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return error instanceof Error && LOST_CONNECTION_TEXT.test(error.message);
}

/** Whether the same may succeed later, though not at once. */
export function isUnavailable(error: unknown): boolean {
  return (
    isAway(error) ||
    isTimedOut(error) ||
    isLockTimeout(error) ||
    isMissingPartition(error) ||
    BROKEN_OFF.has(codeOf(error))
  );
}

/** Whether a lock was not to be had in time. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Whether the driver waits no longer for a statement, whose connection still does. */
export function isTimedOut(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Query read timeout');
}

/** Whether the same transaction may succeed when it is simply repeated. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * Whether a row has no partition that it belongs to. Its SQLSTATE is that of any check, and its text is
 * in the language of the server; the function that found none is not.
 */
export function isMissingPartition(error: unknown): boolean {
  const { routine } = Object(error) as { routine?: unknown };
  return codeOf(error) === '23514' && routine === 'ExecFindPartition';
}

/** Whether the values of the statement, not its circumstances, made it fail. */
export function isDataError(error: unknown): boolean {
  return /^(?:22|23)/.test(codeOf(error)) && !isMissingPartition(error);
}

/** The error that the layers above are given for an error of the driver. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  return isUnavailable(error) || isTransient(error) ? new UnavailableError(error) : error;
}
