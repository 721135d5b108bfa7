/** What kind of answer an error is; the transport maps each kind to a status of its own. */
export type ErrorKind =
  | 'malformed'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'unprocessable'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'request_timeout'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

/** What is wrong with a field. */
export type FieldCode =
  | 'required'
  | 'type'
  | 'format'
  | 'length'
  | 'range'
  | 'choice'
  | 'unknown_reference'
  | 'conflict'
  | 'not_allowed';

/** One fault of a request: `field` is the member's name, or a JSON Pointer when it is nested. */
export interface FieldFault {
  field: string;
  code: FieldCode;
  message: string;
}

/** An error that its caller is told about: `message` is one sentence fit for a customer. */
export class DomainError extends Error {
  /** Seconds after which it is worth while to ask again, where that is known. */
  readonly retryAfterS?: number;

  /** @param code what programs go by (contract, section 1), such as `not_found` */
  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The request names nothing that exists for its caller. */
export class NotFoundError extends DomainError {
  constructor(what = 'resource') {
    super('not_found', 'not_found', `There is no such ${what}.`);
  }
}

/** The role of the caller does not suffice. */
export class ForbiddenError extends DomainError {
  constructor() {
    super('forbidden', 'forbidden', 'This needs a user of the role platform.');
  }
}

/** The `If-Match` of the request names another version than the stored one. */
export class PreconditionFailedError extends DomainError {
  constructor(message = 'The resource was changed since the version that If-Match names.') {
    super('precondition_failed', 'precondition_failed', message);
  }
}

/** A store cannot be reached now; nothing was changed, or it is not known whether it was. */
export class UnavailableError extends DomainError {
  constructor(cause?: unknown) {
    super('unavailable', 'unavailable', 'The service cannot reach its database now.', { cause });
  }
}

/** The caller asked more than it may in a time. */
export class RateLimitedError extends DomainError {
  override readonly retryAfterS: number;

  /** @param waitMs until it may ask again */
  constructor(message: string, waitMs: number) {
    super('rate_limited', 'rate_limited', message);
    this.retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}

/** All callers together ask more of something than there is; that is no fault of the service. */
export class BusyError extends DomainError {
  override readonly retryAfterS = 1;

  constructor(message: string) {
    super('unavailable', 'unavailable', message);
  }
}

/** The request has faults; there is at least one. */
export class ValidationError extends DomainError {
  constructor(readonly faults: readonly FieldFault[]) {
    super('invalid', 'validation_failed', faults.map((fault) => fault.message).join(' '));
  }

  /** A request with a single fault. `message` is a sentence that names the field. */
  static of(field: string, code: FieldCode, message: string): ValidationError {
    return new ValidationError([{ field, code, message }]);
  }
}
