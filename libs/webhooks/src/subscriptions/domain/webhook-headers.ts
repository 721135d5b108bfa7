import { faultAt, type Problem, refuse, ValidationError } from '#libs/kernel';
import { MASK, userinfoOf } from './target-url.js';

/** The limit for one subscription. */
export const MAX_HEADERS = 10;
export const MAX_HEADER_NAME = 64;
export const MAX_HEADER_VALUE = 1_024;

/** A token (RFC 9110, section 5.6.2). */
export const HEADER_NAME = `^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${MAX_HEADER_NAME}}$`;
/** Visible ASCII with inner blanks, which all servers read alike. */
export const HEADER_VALUE = '^[!-~](?:[ -~]*[!-~])?$';

/**
 * Headers that we set, that belong to the connection, that a target's proxy may trust as set by another
 * proxy, or that override the method POST.
 */
const RESERVED =
  /^(?:connection|expect|forwarded|host|http2-settings|keep-alive|te|trace(?:parent|state)|trailer|transfer-encoding|true-client-ip|upgrade|user-agent|via|x-http-method(?:-override)?|x-method-override|x-real-ip|(?:content|proxy|webhook|x-forwarded)-.*)$/i;

const name = new RegExp(HEADER_NAME);
const value = new RegExp(HEADER_VALUE);

/** Whether the text is a valid header name. */
export function isHeaderName(text: string): boolean {
  return name.test(text);
}

/** Whether the text has only characters that a header value may have. */
export function isHeaderValue(text: string): boolean {
  return value.test(text);
}

/** Whether customers may not set a header of this name, read as many servers read it. */
export function isReservedHeader(text: string): boolean {
  // CGI and its successors do not distinguish `X_Real_IP` from `X-Real-IP`.
  return RESERVED.test(text.replaceAll('_', '-'));
}

/** Values by name, sealed or not. */
type Headers = Readonly<Record<string, string>> | null;

/** What is wrong with a masked header that the subscription does not have. */
export const MASKED_HEADER: Problem = {
  code: 'format',
  says: 'must have its value instead of ***, which masks it in answers',
};

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
  const faults = masked.map(([name]) => faultAt('headers', { ...MASKED_HEADER, path: [name] }));
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
