import {
  anyObject,
  faultAt,
  inside,
  type Problem,
  refuse,
  string,
  ValidationError,
  validatorOf,
} from '#libs/kernel';
import { MASK, userinfoOf } from './target-url.js';

/** The limit for one subscription. */
const MAX_HEADERS = 10;
const MAX_NAME = 64;
const MAX_VALUE = 1_024;

/** A token (RFC 9110, section 5.6.2). */
const NAME = new RegExp(`^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${MAX_NAME}}$`);
/** Visible ASCII with inner blanks, which all servers read alike. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Headers that we set, that belong to the connection, that a target's proxy may trust as set by another
 * proxy, or that override the method POST.
 */
const RESERVED =
  /^(?:connection|expect|forwarded|host|http2-settings|keep-alive|te|trace(?:parent|state)|trailer|transfer-encoding|true-client-ip|upgrade|user-agent|via|x-http-method(?:-override)?|x-method-override|x-real-ip|(?:content|proxy|webhook|x-forwarded)-.*)$/i;

/** Whether customers may not set a header of this name, read as many servers read it. */
export function isReservedHeader(text: string): boolean {
  // CGI and its successors do not distinguish `X_Real_IP` from `X-Real-IP`.
  return RESERVED.test(text.replaceAll('_', '-'));
}

/** What is wrong with a masked header that the subscription does not have. */
const MASKED: Problem = {
  code: 'format',
  says: 'must have its value instead of ***, which masks it in answers',
};

const TOO_LONG: Problem = {
  code: 'length',
  says: `must have names of at most ${MAX_NAME} characters`,
};

const HEADER = string()
  .and(
    'length',
    `must have 1 to ${MAX_VALUE} characters`,
    (value) => value.length > 0 && value.length <= MAX_VALUE,
  )
  .and('format', 'must be visible ASCII, with spaces only between other characters', (value) =>
    VALUE.test(value),
  );

function nameProblems(name: string, isRepeated: boolean): Problem[] {
  if (!NAME.test(name)) return [{ code: 'format', says: 'must be a valid header name' }];
  if (isReservedHeader(name))
    return [{ code: 'not_allowed', says: 'is reserved and cannot be set' }];
  return isRepeated
    ? [{ code: 'conflict', says: 'must not differ from another header only in case' }]
    : [];
}

const HEADERS = anyObject({
  maxProperties: MAX_HEADERS,
  propertyNames: { pattern: NAME.source },
  additionalProperties: { type: 'string', maxLength: MAX_VALUE, pattern: VALUE.source },
}).and(
  'length',
  `must have at most ${MAX_HEADERS} members`,
  (headers) => Object.keys(headers).length <= MAX_HEADERS,
);

/** Headers in a request body. A mask is refused for a new subscription, which has no stored value. */
export const GivenHeaders = validatorOf<Record<string, string>>(
  HEADERS.schema,
  (given, isNew = true) => {
    const problems = HEADERS.check(given);
    if (problems.length > 0) return problems;
    const entries = Object.entries(given as Record<string, unknown>);
    const spelled = entries.map(([name]) => name.toLowerCase());
    return entries.flatMap(([name, value], index) => {
      if (name.length > MAX_NAME) return [TOO_LONG];
      const isRepeated = spelled.indexOf(name.toLowerCase()) < index;
      return inside(name, [
        ...nameProblems(name, isRepeated),
        ...HEADER.check(value),
        ...(isNew && value === MASK ? [MASKED] : []),
      ]);
    });
  },
);

/** Values by name, sealed or not. */
type Headers = Readonly<Record<string, string>> | null;

/**
 * Refuses masks for absent headers, so that `***` is never stored as a value.
 * @throws ValidationError
 */
export function refuseMaskedHeaders(headers: Headers, present: Headers): void {
  const known = new Set(Object.keys(present ?? {}).map((name) => name.toLowerCase()));
  const masked = Object.entries(headers ?? {}).filter(
    ([name, value]) => value === MASK && !known.has(name.toLowerCase()),
  );
  if (masked.length === 0) return;
  const faults = masked.map(([name]) => faultAt('headers', { ...MASKED, path: [name] }));
  throw new ValidationError(faults);
}

/**
 * Refuses an `Authorization` header beside user information, which is also sent as that header.
 * @param blamed the field that adds the second one
 * @throws ValidationError
 */
export function refuseTwoAuthorizations(
  targetUrl: string,
  headers: Headers,
  blamed: 'headers' | 'targetUrl',
): void {
  const authorization = Object.keys(headers ?? {}).find((name) => /^authorization$/i.test(name));
  if (authorization === undefined || userinfoOf(targetUrl) === undefined) return;
  refuse(blamed, {
    code: 'conflict',
    says: 'conflicts: the user information of targetUrl is sent as Authorization',
    path: blamed === 'headers' ? [authorization] : [],
  });
}
