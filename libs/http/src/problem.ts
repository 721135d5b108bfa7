import { STATUS_CODES } from 'node:http';
import { DomainError, type ErrorKind, ValidationError } from '#libs/kernel';

/** The status of each kind of error. Without a default, a new kind needs a status to compile. */
export const STATUS_OF: Record<ErrorKind, number> = {
  malformed: 400,
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  method_not_allowed: 405,
  conflict: 409,
  unprocessable: 422,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  request_timeout: 408,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
};

/** The names of statuses that Node.js still calls as before RFC 9110. */
const NEW_NAMES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The request is not HTTP, or its body is not JSON. */
export function malformed(message: string): DomainError {
  return new DomainError('malformed', 'malformed_json', message);
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** How much of a request's target an error shows: an answer is little longer than its request. */
const MAX_INSTANCE = 200;

/** The error format: RFC 9457, with `error` for clients that do not know it. */
export function problemOf(
  error: DomainError,
  request: { instance: string; requestId: string },
): object {
  const status = STATUS_OF[error.kind];
  return {
    type: 'about:blank',
    title: NEW_NAMES[status] ?? STATUS_CODES[status],
    status,
    detail: error.message,
    instance: request.instance.slice(0, MAX_INSTANCE),
    code: error.code,
    error: error.message,
    ...(error instanceof ValidationError && { errors: error.faults }),
    ...error.members,
    requestId: request.requestId,
  };
}
