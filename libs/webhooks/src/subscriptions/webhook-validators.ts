import { bodySchemaOf, schema } from '#libs/http';
import {
  anyObject,
  Field,
  inside,
  integer,
  listOf,
  objectText,
  readFields,
  string,
  validatorOf,
} from '#libs/kernel';
import { ALL_RESOURCES, parseResources, RESOURCES } from '../event-kinds/domain/event-kinds.js';
import { Filter } from '../event-kinds/domain/filter.js';
import { DELAY_SECONDS, MAX_RETRIES, type RetryPolicy, TIMEOUT_MS } from './domain/retry-policy.js';
import { MASK } from './domain/target-url.js';

/** In the order in which PostgreSQL stores its members, because policies are compared as text. */
class RetryPolicyDto implements RetryPolicy {
  @Field(listOf(integer(DELAY_SECONDS), { max: MAX_RETRIES }), {
    about:
      'The delays before the retries, in seconds. Each is shortened or lengthened at random by up to 20 %. Without any, ' +
      'there is only one attempt.',
    example: [10, 60, 600],
  })
  schedule?: number[];

  @Field(integer(TIMEOUT_MS), {
    about: "The timeout for the status line and headers of the target's response, in ms.",
    example: 5_000,
  })
  timeoutMs?: number;
}

/** A policy as it is shown. */
export const RetryPolicySchema = bodySchemaOf(RetryPolicyDto, false);

const MEMBERS = Object.entries(RetryPolicySchema.properties ?? {});
const GIVEN = anyObject({
  properties: Object.fromEntries(MEMBERS.map(([name, one]) => [name, schema.nullable(one)])),
});
/** `{}` clears the policy. An object with only unknown members is a mistake, and must not clear it. */
const KNOWN = GIVEN.and('required', 'must have schedule or timeoutMs', (given) => {
  const names = Object.keys(given);
  return names.length === 0 || MEMBERS.some(([name]) => names.includes(name));
});

const read = (given: object) => {
  const members = new Map<string, unknown>(Object.entries(given));
  return readFields(RetryPolicyDto, (name) => members.get(name));
};

/** A policy in a request body. */
export const GivenRetryPolicy = validatorOf<RetryPolicy>(GIVEN.schema, (given) => {
  const problems = KNOWN.check(given);
  if (problems.length > 0) return problems;
  return read(given as object).problems.flatMap(([name, problem]) => inside(name, [problem]));
});

/** The policy in a body: its known members, of which `null` means "not given". Null if there are none. */
export function retryPolicyOf(given: RetryPolicy): RetryPolicy | null {
  const policy: RetryPolicy = Object.assign({}, read(given).value);
  return Object.keys(policy).length === 0 ? null : policy;
}

const ITEM = `(?:${[...RESOURCES, ALL_RESOURCES].join('|')})`;

/** The resources of a subscription in a request body; `parseResources` reads them. */
export const resourceList = string().and(
  'choice',
  `must be a comma-separated list of ${RESOURCES.join(', ')}, or all`,
  (value) => parseResources(value) !== undefined,
  { pattern: `^\\s*${ITEM}\\s*(?:,\\s*${ITEM}\\s*)*$` },
);

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
