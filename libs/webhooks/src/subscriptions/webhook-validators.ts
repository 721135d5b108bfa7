import { schema } from '#libs/http';
import {
  anyObject,
  inside,
  integer,
  listOf,
  objectText,
  type Validator,
  validatorOf,
} from '#libs/kernel';
import { Filter } from '../event-kinds/domain/filter.js';
import { DELAY_SECONDS, MAX_RETRIES, type RetryPolicy, TIMEOUT_MS } from './domain/webhook.js';
import { MASK } from './domain/target-url.js';

// In the order in which PostgreSQL stores them, because policies are compared as text.
const VALIDATORS: Record<keyof RetryPolicy, Validator> = {
  schedule: listOf(integer(DELAY_SECONDS), { max: MAX_RETRIES }),
  timeoutMs: integer(TIMEOUT_MS),
};

const members = {
  schedule: {
    ...VALIDATORS.schedule.schema,
    description:
      'The delays before the retries, in seconds. Each is shortened or lengthened at random by up to 20 %. Without any, ' +
      'there is only one attempt.',
    examples: [[10, 60, 600]],
  },
  timeoutMs: {
    ...VALIDATORS.timeoutMs.schema,
    description: "The timeout for the status line and headers of the target's response, in ms.",
    examples: [5_000],
  },
};

/** A policy as it is shown. */
export const RetryPolicySchema = schema.named('RetryPolicy', {
  type: 'object',
  properties: members,
  description: 'Replaces the retry policy of the installation.',
});

const GIVEN = anyObject({
  properties: {
    schedule: schema.nullable(members.schedule),
    timeoutMs: schema.nullable(members.timeoutMs),
  },
});
/** `{}` clears the policy. An object with only unknown members is a mistake, and must not clear it. */
const KNOWN = GIVEN.and('required', 'must have schedule or timeoutMs', (given) => {
  const names = Object.keys(given);
  return names.length === 0 || names.some((name) => Object.hasOwn(VALIDATORS, name));
});

/** A policy in a request body. */
export const GivenRetryPolicy = validatorOf<RetryPolicy>(GIVEN.schema, (given) => {
  const problems = KNOWN.check(given);
  if (problems.length > 0) return problems;
  const policy = given as Record<keyof RetryPolicy, unknown>;
  return givenNames(policy).flatMap((name) => inside(name, VALIDATORS[name].check(policy[name])));
});

/** The policy in a body: its known members, of which `null` means "not given". Null if there are none. */
export function retryPolicyOf(given: RetryPolicy): RetryPolicy | null {
  const names = givenNames(given);
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, given[name]]));
}

function givenNames(given: Partial<Record<keyof RetryPolicy, unknown>>): (keyof RetryPolicy)[] {
  const names = Object.keys(VALIDATORS) as (keyof RetryPolicy)[];
  return names.filter((name) => given[name] !== undefined && given[name] !== null);
}

/** A filter in a request body; `filterValidator` has its rules. */
export const FILTER = {
  raw: true,
  read: (json: string) => Filter.of(json),
  about:
    "Conditions on the event's `data`, all of which must hold for the subscription to get the event. There are at most 10 " +
    'members. The name of each is a path: the name of a member of `data`, or up to 5 names joined by dots; `\\.` is a dot in ' +
    'a name. If a condition cannot be evaluated, because the member is missing or has another type, the event does not match. ' +
    'Numbers are compared exactly. `{}` means no filter: all events match.',
  example: { direction: 'in', duration: { gte: 60 }, 'caller.country': ['US', 'CA'] },
};

/** Headers as they are shown. */
export const HeadersSchema = {
  type: 'object',
  description: 'The headers that are sent with every notification, with their values masked.',
  additionalProperties: { type: 'string' },
  examples: [{ 'X-Api-Key': MASK }],
};

/** Headers as they are shown, each masked. */
export function shownHeaders(headers: object): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));
}

const MAX_PAYLOAD_BYTES = 16 << 10;

export const payload = objectText(MAX_PAYLOAD_BYTES, { additionalProperties: {} });
