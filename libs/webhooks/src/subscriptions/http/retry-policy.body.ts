import { fault, inside, isObject, listOf, type Part, schema, wholeNumber } from '#libs/http';
import { DELAY_SECONDS, MAX_RETRIES, type RetryPolicy, TIMEOUT_MS } from '../domain/webhook.js';

// In the order in which PostgreSQL stores them, because policies are compared as text.
const PARTS: Record<keyof RetryPolicy, Part> = {
  schedule: listOf(wholeNumber(DELAY_SECONDS), { max: MAX_RETRIES }),
  timeoutMs: wholeNumber(TIMEOUT_MS),
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

/** A policy in a request body. */
export const GivenRetryPolicy: Part = {
  schema: {
    type: 'object',
    minProperties: 1,
    properties: {
      schedule: schema.nullable(members.schedule),
      timeoutMs: schema.nullable(members.timeoutMs),
    },
  },
  faultsOf: (given, at) => {
    if (!isObject(given)) return [fault(at, 'type', 'must be a JSON object')];
    const names = givenNames(given);
    if (names.length === 0) return [fault(at, 'required', 'must have schedule or timeoutMs')];
    return names.flatMap((name) => PARTS[name].faultsOf(given[name], inside(at, name)));
  },
};

/** The policy in a body: its known members, of which `null` means "not given". */
export function retryPolicyOf(given: RetryPolicy): RetryPolicy {
  return Object.fromEntries(givenNames(given).map((name) => [name, given[name]]));
}

function givenNames(given: Partial<Record<keyof RetryPolicy, unknown>>): (keyof RetryPolicy)[] {
  const names = Object.keys(PARTS) as (keyof RetryPolicy)[];
  return names.filter((name) => given[name] !== undefined && given[name] !== null);
}
