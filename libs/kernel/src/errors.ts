/** The transport maps each kind of error to its own status. */
export type ErrorKind =
  | 'malformed'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'gone'
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

/** The kinds of faults of a field. */
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

/** A fault in a request. `field` is the member's name, or a JSON Pointer for a nested member. */
export interface FieldFault {
  field: string;
  code: FieldCode;
  message: string;
}

/** An error that is reported to the client: `message` is one sentence fit for a customer. */
export class DomainError extends Error {
  /** Seconds to wait before a retry, if known. */
  readonly retryAfterS?: number;
  /** What the answer has for programs, besides the code. */
  readonly members: Readonly<Record<string, string>> | undefined;

  /** @param code for programs (contract, section 1), such as `not_found` */
  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    options?: ErrorOptions & { members?: Readonly<Record<string, string>> },
  ) {
    super(message, options);
    this.name = new.target.name;
    this.members = options?.members;
  }
}

/** The requested resource does not exist, or not for this caller. */
export class NotFoundError extends DomainError {
  /** @param instead what the caller may have meant */
  constructor(what = 'resource', instead?: string) {
    const hint = instead === undefined ? '' : ` (did you mean ${instead}?)`;
    super('not_found', 'not_found', `There is no such ${what}${hint}.`);
  }
}

/** The caller's role or credential does not allow the request. */
export class ForbiddenError extends DomainError {
  constructor(message: string) {
    super('forbidden', 'forbidden', message);
  }
}

/** The `If-Match` header of the request names a different version from the stored one. */
export class PreconditionFailedError extends DomainError {
  constructor(message = 'The resource has changed since the version that If-Match names.') {
    super('precondition_failed', 'precondition_failed', message);
  }
}

/** A store cannot be reached. Either nothing was changed, or that is unknown. */
export class UnavailableError extends DomainError {
  constructor(cause?: unknown, message = 'The service cannot reach its database now.') {
    super('unavailable', 'unavailable', message, { cause });
  }
}

/** A fault of the service itself. */
export class InternalError extends DomainError {
  constructor(cause?: unknown) {
    super('internal', 'internal_error', 'Something went wrong on our side.', { cause });
  }
}

/** The caller has exceeded a rate limit. */
export class RateLimitedError extends DomainError {
  override readonly retryAfterS: number;

  /** @param waitMs until the caller may retry */
  constructor(message: string, waitMs: number) {
    super('rate_limited', 'rate_limited', message);
    this.retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}

/** All callers together exceed the capacity. This is not counted as a failure of the service. */
export class BusyError extends DomainError {
  override readonly retryAfterS = 1;

  constructor(message: string) {
    super('unavailable', 'unavailable', message);
  }
}

/** A request with at least one fault. */
export class ValidationError extends DomainError {
  constructor(readonly faults: readonly FieldFault[]) {
    super('invalid', 'validation_failed', faults.map((fault) => fault.message).join(' '));
  }

  /** A request with a single fault. `message` is a sentence that names the field. */
  static of(field: string, code: FieldCode, message: string): ValidationError {
    return new ValidationError([{ field, code, message }]);
  }
}
