import { DomainError, UnavailableError } from '#libs/kernel';
import { shortageOf } from '../shortage.js';
import { ReadOnlyDatabaseError, UnusableDatabaseError } from './needed-settings.js';

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

/** The server's timeouts: `statement_timeout` and `idle_in_transaction_session_timeout`. */
const SERVER_TIMEOUTS = new Set(['57014', '25P03']);

/** The driver's own errors, which carry no code. */
const LOST_CONNECTION_TEXT =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable|pool after calling end/i;

/** What Citus says with the SQLSTATE of internal errors when a node, or the coordinator itself, was killed. */
const LOST_NODE_TEXT = /^(?:failure on connection marked as essential|postmaster was shut down)/;

/** The SQLSTATE of a statement on a table that does not exist, as before `migrate` has run. */
export const UNDEFINED_TABLE = '42P01';

/** The SQLSTATE of a PostgreSQL error, or the operating system's error code, or ''. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** What to tell an operator about an error. Connection errors name the host, never the login. */
export function firstLine(error: unknown): string {
  // If a name has several addresses, such as localhost, Node.js throws an AggregateError without a message.
  if (error instanceof AggregateError) return error.errors.map(firstLine).join('; ');
  if (!(error instanceof Error)) return String(error);
  return (error.message || error.name).split('\n', 1)[0] ?? '';
}

/** Whether PostgreSQL is unreachable, starting, stopping, out of resources or misconfigured. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof UnusableDatabaseError) return true;
  // Without a file descriptor or a port, no further connection can be opened.
  if (LOST_CONNECTION.has(code) || shortageOf(error) !== undefined) return true;
  // 08: connection; 53: resources; 57P0x: shutdown and start; 58: system; 25006: a standby.
  if (/^(?:08|53|57P0|58)/.test(code) || code === '25006') return true;
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return (
    error instanceof Error &&
    (LOST_CONNECTION_TEXT.test(error.message) || LOST_NODE_TEXT.test(error.message))
  );
}

/** Whether a retry may succeed later, but not at once. */
export function isUnavailable(error: unknown): boolean {
  return (
    isAway(error) ||
    isTimedOut(error) ||
    isLockTimeout(error) ||
    isMissingPartition(error) ||
    SERVER_TIMEOUTS.has(codeOf(error))
  );
}

/** Whether a lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Whether the connection was closed after a silence (data-source-options.ts). */
export function isTimedOut(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('PostgreSQL was silent');
}

/** Whether the transaction may succeed if it is repeated at once. */
export function isTransient(error: unknown): boolean {
  // CIINF: Citus lost an interim result, as when a schema moves to another node.
  return ['40001', '40P01', 'CIINF'].includes(codeOf(error));
}

/**
 * Whether there is no partition for a row. All check violations share the SQLSTATE, and the message is in the
 * server's language, but the name of the routine identifies this error. The coordinator of a Citus cluster passes on
 * nothing but the message, in English.
 */
export function isMissingPartition(error: unknown): boolean {
  const { routine, message } = Object(error) as { routine?: unknown; message?: unknown };
  const isMissing = codeOf(error) === '23514' && routine === 'ExecFindPartition';
  return isMissing || String(message).startsWith('no partition of relation');
}

/** Whether the statement may have failed because of a single row: its values, its size, a trigger, a damaged page. */
export function isRowError(error: unknown): boolean {
  return /^(?:22|23|54|P0|XX)/.test(codeOf(error)) && !isMissingPartition(error) && !isAway(error);
}

/** A read-only transaction, or a full disk. */
const NO_WRITES = new Set(['25006', '53100']);

/** Whether PostgreSQL takes no writes now, although it may answer reads. */
function takesNoWrites(error: unknown): boolean {
  return error instanceof ReadOnlyDatabaseError || NO_WRITES.has(codeOf(error));
}

/** Translates a driver error into the error that the layers above receive. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (takesNoWrites(error)) {
    return new UnavailableError(error, 'The database of the service takes no writes at present.');
  }
  return isUnavailable(error) || isTransient(error) ? new UnavailableError(error) : error;
}
