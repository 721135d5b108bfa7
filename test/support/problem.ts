import { expect } from 'vitest';
import type { Answer } from './http.js';

/** The expected content of an error answer (contract, "Errors"). */
export interface Refusal {
  status: number;
  code: string;
  /** `field code`, in any order; absent if the answer has no `errors`. */
  faults?: readonly string[];
}

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
};

/** Checks that an answer has the common error shape with all members, and the expected content. */
export function expectProblem(answer: Answer, { status, code, faults }: Refusal): void {
  expect(`${answer.status} ${answer.text.slice(0, 500)}`).toMatch(new RegExp(`^${status} `));
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json(?:;|$)/);
  const body = answer.json();
  expect(body).toEqual({
    type: 'about:blank',
    title: TITLES[status],
    status,
    detail: expect.stringMatching(/^\S.+\.$/s) as string,
    instance: expect.any(String) as string,
    code,
    error: expect.stringMatching(/^\S.+\.$/s) as string,
    requestId: answer.headers['x-request-id'],
    ...(code === 'validation_failed' && { errors: expect.any(Array) as unknown[] }),
  });
  expect(body['requestId']).toMatch(/^\S+$/);
  expect(answer.text).not.toMatch(/\bat .+\.[jt]s:\d|SELECT |node_modules/);
  if (status === 401) {
    expect(answer.headers['www-authenticate']).toBe('Basic realm="switchhook", charset="UTF-8"');
  }
  if (status === 405) expect(answer.headers.allow).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  if (code === 'validation_failed') expectFaults(body as unknown as Faulty, faults);
}

/** An answer, or a result of a batch, that lists faults. */
export interface Faulty {
  error: string;
  errors: { field: string; code: string; message: string }[];
}

const FIELD_CODES = [
  ...['required', 'type', 'format', 'length', 'range', 'choice'],
  ...['unknown_reference', 'conflict', 'not_allowed'],
];

/** Checks the faults of an answer, or of a result of a batch: each is listed, and named in `error`. */
export function expectFaults({ error, errors }: Faulty, faults?: readonly string[]): void {
  expect(errors.length).toBeGreaterThan(0);
  for (const fault of errors) {
    expect(Object.keys(fault).sort()).toEqual(['code', 'field', 'message']);
    expect(FIELD_CODES).toContain(fault.code);
    expect(fault.message).toMatch(/^\S.+\.$/);
    expect(error).toContain(fault.field);
    expect(fault.message).toContain(fault.field);
  }
  if (faults) {
    expect(errors.map(({ field, code }) => `${field} ${code}`).sort()).toEqual([...faults].sort());
  }
}
