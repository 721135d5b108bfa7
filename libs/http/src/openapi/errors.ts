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
    'The body is not JSON text in UTF-8, or the request is not valid HTTP.',
  ),
  validation_failed: describeError(
    ValidationError.of('name', 'required', 'name is required.'),
    'The request has faults; `errors` lists all of them.',
  ),
  unauthorized: describeError(
    new DomainError('unauthorized', 'unauthorized', 'Credentials are required (HTTP Basic).'),
    'The request has no valid credentials.',
  ),
  forbidden: describeError(new ForbiddenError(), "The caller's role is not sufficient."),
  not_found: describeError(
    new NotFoundError(),
    'The path or the resource does not exist for the caller.',
  ),
  method_not_allowed: describeError(
    new DomainError(
      'method_not_allowed',
      'method_not_allowed',
      'The method PATCH is not allowed here. Allowed: DELETE, GET, HEAD, PUT.',
    ),
    'The path exists, but not with this method.',
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
    'The resource has changed since the version that `If-Match` names, `If-Match` has a tag that no ' +
      'answer has, such as a weak one, or the resource exists and the request has `If-None-Match: *`.',
  ),
  body_too_large: describeError(
    tooLarge(256 << 10),
    'The body is too large, after decompression if it is compressed.',
  ),
  unsupported_media_type: describeError(
    unsupported('The header Content-Type must be application/json.'),
    'The `Content-Type` is not `application/json`, or the `Content-Encoding` is unknown.',
  ),
  request_timeout: describeError(
    timeoutError(),
    'The whole request did not arrive in time; the connection is closed.',
  ),
  rate_limited: describeError(
    new RateLimitedError('The account may make 600 requests in 60 seconds.', 1_000),
    'The account has exceeded its rate limit or has too many requests in flight, or too many logins, ' +
      'with one or any username, have failed from one address. `Retry-After` says when to retry.',
  ),
  unavailable: describeError(
    new UnavailableError(),
    'A store is unavailable, or the service is overloaded. Either nothing was changed, or that is unknown.',
  ),
  internal_error: describeError(new InternalError(), 'The service has failed unexpectedly.'),
} satisfies Record<string, DescribedError>;

export type CommonCode = keyof typeof COMMON;

const FIELD_CODES: Readonly<Record<FieldCode, string>> = {
  required: 'the field is missing',
  type: 'the value has the wrong JSON type',
  format: 'the value has the wrong format',
  length: 'the value is too short or too long',
  range: 'the number or the time is out of range',
  choice: 'the value is not one of the allowed ones',
  unknown_reference: 'the value refers to something that does not exist',
  conflict: 'the value conflicts with another one',
  not_allowed: 'the value is valid, but not allowed here, or the field is unknown',
};

export const FaultSchema = named(
  'Fault',
  object({
    field: text(
      'The member or the query parameter; a JSON Pointer if it is nested. Empty for the whole body.',
      'name',
    ),
    code: meanings('The kind of fault.', FIELD_CODES, 'required'),
    message: text('The fault in a sentence.', 'name is required.'),
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
      title: text('The name of the status.', 'Not Found'),
      status: { type: 'integer', description: 'The status of the answer.', examples: [404] },
      detail: text('One sentence about this request.', 'There is no such resource.'),
      instance: text('The target of the request.', '/v1/applications/5080983'),
      code: choice('The kind of error, for programs.', codes),
      error: text('The same sentence as `detail`.', 'There is no such resource.'),
      errors: optional({
        ...arrayOf(FaultSchema),
        description: 'Every fault, if `code` is `validation_failed`.',
      }),
      requestId: text('The `X-Request-Id` of the answer.', 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11'),
    }),
    description: 'The format of every error: RFC 9457, with `code`, `error` and `requestId`.',
  });
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
