import type { ErrorCode, ErrorKind, FieldCode } from '#libs/kernel';
import { STATUS_OF, TITLE_OF } from '../problem.js';
import {
  arrayOf,
  choice,
  exampleOf,
  meanings,
  named,
  object,
  type Schema,
  text,
} from './schema.js';

interface ErrorDescription {
  kind: ErrorKind;
  /** When a request is answered so. */
  when: string;
  /** What such an answer says. */
  says: string;
}

/** Every error. Without a default: a new code does not compile without a description. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorDescription>> = {
  malformed_json: {
    kind: 'malformed',
    when: 'The body is no JSON text in UTF-8, or the request is not valid HTTP.',
    says: 'The body is not valid JSON (at character 17).',
  },
  validation_failed: {
    kind: 'invalid',
    when: 'The request has faults; `errors` lists every one.',
    says: 'name is required.',
  },
  unauthorized: {
    kind: 'unauthorized',
    when: 'The request has no valid credentials.',
    says: 'Valid credentials are needed (HTTP Basic).',
  },
  forbidden: {
    kind: 'forbidden',
    when: 'The role of the caller does not suffice.',
    says: 'This needs a user of the role platform.',
  },
  webhook_limit_reached: {
    kind: 'forbidden',
    when: 'The account, or the application, has as many webhook subscriptions as it may.',
    says: 'The account has 10 account-level webhook subscriptions, which is the limit.',
  },
  not_found: {
    kind: 'not_found',
    when: 'The path or the resource does not exist for the caller.',
    says: 'There is no such resource.',
  },
  method_not_allowed: {
    kind: 'method_not_allowed',
    when: 'The path exists, but not with this method.',
    says: 'The method PATCH is not allowed here; DELETE, GET, HEAD, PUT are.',
  },
  delivery_finished: {
    kind: 'conflict',
    when: 'The delivery is finished: it succeeded, was given up, or was cancelled for another reason.',
    says: 'The delivery is finished already.',
  },
  delivery_not_finished: {
    kind: 'conflict',
    when: 'The delivery is still under way.',
    says: 'The delivery is not finished.',
  },
  subscription_inactive: {
    kind: 'conflict',
    when: 'The webhook subscription is switched off or deleted.',
    says: 'The webhook subscription is switched off or deleted.',
  },
  replay_finished: {
    kind: 'conflict',
    when: 'The replay is completed: there is nothing left to cancel.',
    says: 'The replay is completed.',
  },
  replay_limit_reached: {
    kind: 'conflict',
    when: 'As many replays of the subscription are running as it may have at once.',
    says: 'A webhook subscription has at most 10 replays running.',
  },
  own_access: {
    kind: 'conflict',
    when: 'A platform user would lock itself, or take away its own last credential.',
    says: 'You cannot lock yourself.',
  },
  idempotency_key_in_use: {
    kind: 'conflict',
    when: 'A request with the same `Idempotency-Key` is still under way.',
    says: 'A request with this Idempotency-Key is still under way.',
  },
  idempotency_key_reused: {
    kind: 'unprocessable',
    when: 'The `Idempotency-Key` was used for another request in the last 24 hours.',
    says: 'The Idempotency-Key was used for another request in the last 24 hours.',
  },
  precondition_failed: {
    kind: 'precondition_failed',
    when:
      'The resource was changed since the version that `If-Match` names, or is there with ' +
      '`If-None-Match: *`.',
    says: 'The resource was changed since the version that If-Match names.',
  },
  body_too_large: {
    kind: 'too_large',
    when: 'The body, inflated if it was compressed, is too large.',
    says: 'The body must have at most 262144 bytes.',
  },
  unsupported_media_type: {
    kind: 'unsupported_media_type',
    when: 'The `Content-Type` is not `application/json`, or the `Content-Encoding` is unknown.',
    says: 'The header Content-Type must be application/json.',
  },
  request_timeout: {
    kind: 'request_timeout',
    when: 'The request did not come in whole in time; the connection is closed.',
    says: 'The request did not come in whole in time.',
  },
  rate_limited: {
    kind: 'rate_limited',
    when:
      'The account asked more than it may in a time or at once, or too many logins of a username, or ' +
      'of any, failed from one address. `Retry-After` says when to ask again.',
    says: 'The account may make 600 requests in 60 seconds.',
  },
  unavailable: {
    kind: 'unavailable',
    when:
      'A store is away, or there is too much to do. Nothing was changed, or it is not known ' +
      'whether it was.',
    says: 'The service cannot reach its database now.',
  },
  internal_error: {
    kind: 'internal',
    when: 'The fault is ours.',
    says: 'Something went wrong on our side.',
  },
};

const FIELD_CODES: Readonly<Record<FieldCode, string>> = {
  required: 'the field must be there',
  type: 'the value has another JSON type',
  format: 'the value is not written as it must be',
  length: 'the value is too short or too long',
  range: 'the number, or the time, is too small or too large',
  choice: 'the value is none of the allowed ones',
  unknown_reference: 'the value names what does not exist',
  conflict: 'the value cannot go with another one',
  not_allowed: 'the value is well formed, but not allowed here',
};

export const FaultSchema = named(
  'Fault',
  object({
    field: text(
      'The member or the query parameter; a JSON Pointer where it is nested. Empty for the body.',
      'name',
    ),
    code: meanings('What is wrong with it.', FIELD_CODES, 'required'),
    message: text('The same in a sentence.', 'name is required.'),
  }),
);

const example = (code: ErrorCode): Record<string, unknown> => {
  const { kind, says } = ERRORS[code];
  return {
    type: 'about:blank',
    title: TITLE_OF[kind],
    status: STATUS_OF[kind],
    detail: says,
    instance: '/v1/applications/5080983',
    code,
    error: says,
    ...(code === 'validation_failed' && { errors: [exampleOf(FaultSchema)] }),
    requestId: 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
  };
};

export const ProblemSchema = named('Problem', {
  ...object(
    {
      type: text('Always `about:blank`.', 'about:blank'),
      title: text('The name of the status.', 'Not Found'),
      status: { type: 'integer', description: 'The status of the answer.', examples: [404] },
      detail: text('One sentence about this very request.', 'There is no such resource.'),
      instance: text('The target of the request.', '/v1/applications/5080983'),
      code: choice('What programs go by.', Object.keys(ERRORS)),
      error: text('The same sentence as `detail`.', 'There is no such resource.'),
      errors: {
        ...arrayOf(FaultSchema),
        description: 'Every fault, when `code` is `validation_failed`.',
      },
      requestId: text('The `X-Request-Id` of the answer.', 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11'),
    },
    { optional: ['errors'] },
  ),
  description: 'The one shape of an error: RFC 9457, with `code`, `error` and `requestId`.',
});

/** The errors of one status: how the component is called, and what it says. */
export function problemAnswer(codes: readonly ErrorCode[]) {
  const [first] = codes;
  if (!first) throw new Error('an error answer needs a code');
  const hasFaults = codes.includes('validation_failed');
  const narrowed: Schema = {
    properties: { status: { const: statusOf(first) }, code: { enum: codes } },
    ...(hasFaults && codes.length === 1 && { required: ['errors'] }),
  };
  return {
    name: codes.map((code) => pascal(code)).join('Or'),
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
    schema: narrowed,
    examples: Object.fromEntries(codes.map((code) => [code, { value: example(code) }])),
  };
}

export function statusOf(code: ErrorCode): number {
  return STATUS_OF[ERRORS[code].kind];
}

/** The table of errors for the description's first page. */
export function errorTable(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { kind, when }]) => `| ${STATUS_OF[kind]} | \`${code}\` | ${when} |`,
  );
  return ['| status | `code` | when |', '| --- | --- | --- |', ...rows].join('\n');
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
