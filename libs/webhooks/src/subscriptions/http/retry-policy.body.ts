import { type ReadObject, schema } from '#libs/http';
import type { FieldFault } from '#libs/kernel';
import { DELAY_SECONDS, MAX_RETRIES, TIMEOUT_MS } from '../domain/retry-policy.js';

const members = {
  schedule: {
    type: 'array',
    maxItems: MAX_RETRIES,
    items: { type: 'integer', minimum: DELAY_SECONDS.min, maximum: DELAY_SECONDS.max },
    description:
      'Delays before the retries in seconds, each 20 % shorter or longer by chance; ' +
      'without any there is one attempt.',
    examples: [[10, 60, 600]],
  },
  timeoutMs: {
    type: 'integer',
    minimum: TIMEOUT_MS.min,
    maximum: TIMEOUT_MS.max,
    description: "Until the status line and headers of the target's answer, in ms.",
    examples: [5_000],
  },
};

const orNull = (member: schema.Schema & { type: string }): schema.Schema => ({
  ...member,
  type: [member.type, 'null'],
});

/**
 * A policy in a request body, for {@link readRetryPolicy}. The schema does not say that one member is
 * required, because client generators would then create a type that does not allow null.
 */
export const GivenRetryPolicy = {
  type: 'object',
  properties: { schedule: orNull(members.schedule), timeoutMs: orNull(members.timeoutMs) },
};

/** A policy as it is shown. */
export const RetryPolicySchema = schema.named('RetryPolicy', {
  type: 'object',
  properties: members,
  description: 'What holds instead of the configured retries.',
});

/** Reads the member `retry`, which is an object; in it, `null` means "not given". */
export function readRetryPolicy(given: Record<string, unknown>): ReadObject {
  const schedule = given.schedule ?? undefined;
  const timeoutMs = given.timeoutMs ?? undefined;
  if (schedule === undefined && timeoutMs === undefined) {
    return { faults: [faultOf('retry', 'required', 'must have schedule or timeoutMs')] };
  }
  const faults = [
    ...(schedule === undefined ? [] : scheduleFaults(schedule)),
    ...(timeoutMs === undefined ? [] : integerFaults('/retry/timeoutMs', timeoutMs, TIMEOUT_MS)),
  ];
  if (faults.length > 0) return { faults };
  // In the order in which PostgreSQL stores them, because policies are compared as text.
  const value = {
    ...(schedule !== undefined && { schedule }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  return { value };
}

function scheduleFaults(schedule: unknown): FieldFault[] {
  const field = '/retry/schedule';
  if (!Array.isArray(schedule)) return [faultOf(field, 'type', 'must be an array')];
  if (schedule.length > MAX_RETRIES) {
    return [faultOf(field, 'length', `must have at most ${MAX_RETRIES} elements`)];
  }
  return schedule.flatMap((delay: unknown, index) =>
    integerFaults(`${field}/${index}`, delay, DELAY_SECONDS),
  );
}

function integerFaults(
  field: string,
  value: unknown,
  { min, max }: { min: number; max: number },
): FieldFault[] {
  if (!Number.isInteger(value)) return [faultOf(field, 'type', 'must be a whole number')];
  if ((value as number) >= min && (value as number) <= max) return [];
  return [faultOf(field, 'range', `must be from ${min} to ${max}`)];
}

function faultOf(field: string, code: FieldFault['code'], says: string): FieldFault {
  return { field, code, message: `${field} ${says}.` };
}
