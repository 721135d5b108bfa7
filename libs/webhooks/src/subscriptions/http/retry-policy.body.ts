import { schema } from '#libs/http';
import { anyObject, inside, integer, listOf, type Part, partOf } from '#libs/kernel';
import {
  DELAY_SECONDS,
  MAX_RETRIES,
  type RetryPolicy,
  TIMEOUT_MS,
} from '../domain/retry-policy.js';

// In the order in which PostgreSQL stores them, because policies are compared as text.
const PARTS: Record<keyof RetryPolicy, Part> = {
  schedule: listOf(integer(DELAY_SECONDS), { max: MAX_RETRIES }),
  timeoutMs: integer(TIMEOUT_MS),
};

const members = {
  schedule: {
    ...PARTS.schedule.schema,
    description:
      'Delays before the retries in seconds, each 20 % shorter or longer by chance; ' +
      'without any there is one attempt.',
    examples: [[10, 60, 600]],
  },
  timeoutMs: {
    ...PARTS.timeoutMs.schema,
    description: "Until the status line and headers of the target's answer, in ms.",
    examples: [5_000],
  },
};

/** A policy as it is shown. */
export const RetryPolicySchema = schema.named('RetryPolicy', {
  type: 'object',
  properties: members,
  description: 'What holds instead of the configured retries.',
});

const GIVEN = anyObject({
  minProperties: 1,
  properties: {
    schedule: schema.nullable(members.schedule),
    timeoutMs: schema.nullable(members.timeoutMs),
  },
});
const NOT_EMPTY = GIVEN.and(
  'required',
  'must have schedule or timeoutMs',
  (given) => givenNames(given).length > 0,
);

/** A policy in a request body. */
export const GivenRetryPolicy = partOf<RetryPolicy>(GIVEN.schema, (given) => {
  const problems = NOT_EMPTY.check(given);
  if (problems.length > 0) return problems;
  const policy = given as Record<keyof RetryPolicy, unknown>;
  return givenNames(policy).flatMap((name) => inside(name, PARTS[name].check(policy[name])));
});

/** The policy in a body: its known members, of which `null` means "not given". */
export function retryPolicyOf(given: RetryPolicy): RetryPolicy {
  return Object.fromEntries(givenNames(given).map((name) => [name, given[name]]));
}

function givenNames(given: Partial<Record<keyof RetryPolicy, unknown>>): (keyof RetryPolicy)[] {
  const names = Object.keys(PARTS) as (keyof RetryPolicy)[];
  return names.filter((name) => given[name] !== undefined && given[name] !== null);
}
