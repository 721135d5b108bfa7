import { ValidationError } from '#libs/kernel';
import { MASK, userinfoOf } from './target-url.js';

/** Most headers that a subscription may have. */
export const MAX_HEADERS = 10;
export const MAX_HEADER_NAME = 64;
export const MAX_HEADER_VALUE = 1_024;

/** A token (RFC 9110, section 5.6.2). */
export const HEADER_NAME = `^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${MAX_HEADER_NAME}}$`;
/** Visible ASCII, with blanks inside: what every server reads as it was meant. */
export const HEADER_VALUE = '^[!-~](?:[ -~]*[!-~])?$';

/**
 * What we say ourselves, what belongs to the connection, what a proxy in front of a target may trust to
 * come from another proxy, and what makes a POST something else.
 */
const RESERVED =
  /^(?:connection|expect|forwarded|host|http2-settings|keep-alive|te|trace(?:parent|state)|trailer|transfer-encoding|true-client-ip|upgrade|user-agent|via|x-http-method(?:-override)?|x-method-override|x-real-ip|(?:content|proxy|webhook|x-forwarded)-.*)$/i;

const name = new RegExp(HEADER_NAME);
const value = new RegExp(HEADER_VALUE);

/** Whether a header can have that name. */
export function isHeaderName(text: string): boolean {
  return name.test(text);
}

/** Whether a header can have that value, as far as its characters go. */
export function isHeaderValue(text: string): boolean {
  return value.test(text);
}

/** Whether a header of that name, as many servers read it, is not a customer's to set. */
export function isReservedHeader(text: string): boolean {
  // CGI and all that came after it tell `X_Real_IP` and `X-Real-IP` apart no more.
  return RESERVED.test(text.replaceAll('_', '-'));
}

/** Values by name, sealed or not. */
type Headers = Readonly<Record<string, string>> | null;

/** What is wrong with a header that is given as it is shown, and is not there, in words. */
export const MASKED_HEADER = 'must be given: *** only stands for a value when shown';

/**
 * Refuses masks of what is not there, so that `***` never becomes a value.
 * @throws ValidationError
 */
export function refuseMaskedHeaders(headers: Headers, present: Headers): void {
  const known = new Set(Object.keys(present ?? {}).map((name) => name.toLowerCase()));
  const masked = Object.entries(headers ?? {}).filter(
    ([name, value]) => value === MASK && !known.has(name.toLowerCase()),
  );
  if (masked.length === 0) return;
  throw new ValidationError(
    masked.map(([name]) => {
      const field = headerField(name);
      return { field, code: 'format', message: `${field} ${MASKED_HEADER}.` };
    }),
  );
}

/**
 * Refuses a header `Authorization` beside user information, which is sent as one.
 * @param blamed the field that brings the second one
 * @throws ValidationError
 */
export function refuseTwoAuthorizations(
  targetUrl: string,
  headers: Headers,
  blamed: 'headers' | 'targetUrl',
): void {
  const authorization = Object.keys(headers ?? {}).find((name) => /^authorization$/i.test(name));
  if (authorization === undefined || userinfoOf(targetUrl) === undefined) return;
  const field = blamed === 'headers' ? headerField(authorization) : blamed;
  const message = `${field} conflicts: the user information of targetUrl is sent as Authorization.`;
  throw ValidationError.of(field, 'conflict', message);
}

/** The JSON Pointer of a header in a body (RFC 6901). */
export function headerField(name: string): string {
  return `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
