import {
  DomainError,
  type FieldCode,
  ForbiddenError,
  InternalError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  UnavailableError,
  ValidationError,
} from '#libs/kernel';
import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from '#libs/runtime';
import { timeoutError } from '../connection-limits.js';
import { problemOf, STATUS_OF } from '../problem.js';
import { notJson, tooLarge, unsupported } from '../read-body.js';
import { arrayOf, choice, meanings, named, object, optional, type Schema, text } from './schema.js';

/** An error of the domain, and when a request gets it. */
export interface DescribedError {
  error: DomainError;
  when: string;
}

/**
 * Describes an error of a context, for the operations that answer with it.
 * @param error the error that the domain throws
 * @param when a sentence: when a request gets this error
 */
export function describeError(error: DomainError, when: string): DescribedError {
  return { error, when };
}

/** The errors that any operation may answer with. */
const COMMON = {
  malformed_json: describeError(
    notJson(Buffer.alloc(0), 17),
    'The body is not JSON in UTF-8, or the request is not valid HTTP.',
  ),
  validation_failed: describeError(
    ValidationError.of('name', 'required', 'name is required.'),
    'The request is invalid; `errors` lists every error.',
  ),
  unauthorized: describeError(
    new DomainError('unauthorized', 'unauthorized', 'Credentials are required (HTTP Basic).'),
    'The request has no valid credentials.',
  ),
  forbidden: describeError(
    new ForbiddenError('This requires a user with the role platform or operator.'),
    "The caller's role, or the scope of its credential, does not allow the request.",
  ),
  not_found: describeError(
    new NotFoundError(),
    'The path or the resource does not exist, or is not visible to the caller.',
  ),
  method_not_allowed: describeError(
    new DomainError(
      'method_not_allowed',
      'method_not_allowed',
      'The method PATCH is not allowed here. Allowed: DELETE, GET, HEAD, PUT.',
    ),
    'The path does not support the method.',
  ),
  idempotency_key_in_use: describeError(
    new IdempotencyKeyInUseError(),
    'A request with the same `Idempotency-Key` is still in progress.',
  ),
  idempotency_key_reused: describeError(
    new IdempotencyKeyReusedError(),
    'The `Idempotency-Key` was used for another request in the last 24 hours.',
  ),
  precondition_failed: describeError(
    new PreconditionFailedError(),
    'The resource has changed since the version in `If-Match`; or `If-Match` has a tag that no version has, such as ' +
      'a weak one; or the request has `If-None-Match: *` and the resource exists.',
  ),
  body_too_large: describeError(tooLarge(256 << 10), 'The decompressed body is too large.'),
  unsupported_media_type: describeError(
    unsupported('The header Content-Type must be application/json.'),
    'The `Content-Type` is not `application/json`, or the `Content-Encoding` is unknown.',
  ),
  request_timeout: describeError(
    timeoutError(),
    'The request did not arrive completely in time. The connection is closed.',
  ),
  rate_limited: describeError(
    new RateLimitedError('The account may make 600 requests in 60 seconds.', 1_000),
    'The account has exceeded a rate limit or has too many requests in flight; or too many logins have failed from ' +
      'the same address, with one username or with several. `Retry-After` says when to retry.',
  ),
  unavailable: describeError(
    new UnavailableError(),
    'The database is unavailable, or the service is overloaded. The request had no effect, or its outcome is unknown.',
  ),
  internal_error: describeError(new InternalError(), 'The service failed unexpectedly.'),
} satisfies Record<string, DescribedError>;

export type CommonCode = keyof typeof COMMON;

const FIELD_CODES: Readonly<Record<FieldCode, string>> = {
  required: 'the field is missing',
  type: 'the value has the wrong JSON type',
  format: 'the value has the wrong format',
  length: 'the value is too short or too long',
  range: 'the number or the time is out of range',
  choice: 'the value is not one of the allowed values',
  unknown_reference: 'the value refers to something that does not exist',
  conflict: 'the value conflicts with another value',
  not_allowed: 'the value is valid, but not allowed here, or the field is unknown',
};

export const FaultSchema = named(
  'Fault',
  object({
    field: text(
      'The name of the field or query parameter; a JSON Pointer for a nested field; empty for the whole body.',
      'name',
    ),
    code: meanings('The kind of error.', FIELD_CODES, 'required'),
    message: text('The error in one sentence.', 'name is required.'),
  }),
);

/** Every error of an API: the common ones, and the ones that its contexts add. */
export class DescribedErrors {
  /** The error format. */
  readonly problem: Schema;
  private readonly all: ReadonlyMap<string, DescribedError>;

  /** @param added may contain duplicates */
  constructor(added: readonly DescribedError[]) {
    const all = [...Object.values<DescribedError>(COMMON), ...added];
    this.all = new Map(all.map((one) => [one.error.code, one]));
    this.problem = problemSchema([...this.all.keys()]);
  }

  statusOf(code: string): number {
    return STATUS_OF[this.of(code).error.kind];
  }

  /** The component for the errors of one status. */
  answer(codes: readonly string[]) {
    return {
      name: codes.map((code) => pascal(code)).join('Or'),
      description: codes.map((code) => `\`${code}\`: ${this.of(code).when}`).join('\n\n'),
      examples: Object.fromEntries(codes.map((code) => [code, this.example(code)])),
    };
  }

  /** The table of errors in Markdown. */
  table(): string {
    const rows = [...this.all].map(([code, { when }]) => ({
      code,
      when,
      status: this.statusOf(code),
    }));
    return [
      '| status | `code` | when |',
      '| --- | --- | --- |',
      ...rows
        .sort((a, b) => a.status - b.status)
        .map(({ code, when, status }) => `| ${String(status)} | \`${code}\` | ${when} |`),
    ].join('\n');
  }

  private of(code: string): DescribedError {
    const described = this.all.get(code);
    if (!described) throw new Error(`the error ${code} is not described`);
    return described;
  }

  private example(code: string): object {
    return problemOf(this.of(code).error, {
      instance: '/v1/applications/5080983',
      requestId: 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
    });
  }
}

function problemSchema(codes: readonly string[]): Schema {
  return named('Problem', {
    ...object({
      type: text('Always `about:blank`.', 'about:blank'),
      title: text("The status code's name.", 'Not Found'),
      status: { type: 'integer', description: 'The status code of the response.', examples: [404] },
      detail: text('The error in one sentence.', 'There is no such resource.'),
      instance: text("The request's path and query.", '/v1/applications/5080983'),
      code: choice('The kind of error, for programs.', codes),
      error: text('The same as `detail`.', 'There is no such resource.'),
      errors: optional({
        ...arrayOf(FaultSchema),
        description: 'Every validation error, if `code` is `validation_failed`.',
      }),
      oldest: optional(
        text(
          'The oldest cursor that works, if `code` is `cursor_expired`.',
          '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388',
        ),
      ),
      requestId: text(
        'The `X-Request-Id` of the response.',
        'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
      ),
    }),
    description:
      'The format of every error: RFC 9457, with `code`, `error`, `errors` and `requestId`.',
  });
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
