import type { FieldFault } from './errors.js';

/** Whether PostgreSQL and every receiver accept the text: no U+0000, no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The length in code points, the unit of all limits. */
export function codePoints(text: string): number {
  let length = 0;
  // An array of them would take a hundred times the memory of the text.
  for (let at = 0; at < text.length; length += 1) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return length;
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether the text can be a label: storable, without control characters. */
export function isPrintable(text: string): boolean {
  return isStorable(text) && !CONTROL.test(text);
}

/**
 * The characters that reorder the text around them on a screen, as a range of a regular expression (Unicode
 * Standard Annex 9, section 2). With them, a name or a URL can look like another one.
 */
export const BIDI_CONTROLS = '\\u202a-\\u202e\\u2066-\\u2069';

/** The rule for names and URLs, in words. */
export const BIDI_RULE =
  'must not contain bidirectional controls (U+202A to U+202E, U+2066 to U+2069)';

const BIDI = new RegExp(`[${BIDI_CONTROLS}]`);

export function hasBidiControl(text: string): boolean {
  return BIDI.test(text);
}

/** The faults of changed fields. Values that older versions stored are accepted until they are changed. */
export function bidiFaults(changed: object): FieldFault[] {
  return Object.entries(changed).flatMap(([field, value]: [string, unknown]) =>
    typeof value === 'string' && hasBidiControl(value)
      ? [{ field, code: 'format' as const, message: `${field} ${BIDI_RULE}.` }]
      : [],
  );
}

const LOGIN_BEHIND_HOST = /^[^/]*\/\/[^/?#]*[/?#].*@/s;

/**
 * Whether the login of an address has a `/`, `?` or `#` that is not percent-encoded: a part of the password would then
 * count as its host.
 */
export function hasRawLogin(address: string): boolean {
  return LOGIN_BEHIND_HOST.test(address);
}

/** The longest URL, in characters. */
export const MAX_URL = 2_048;

/** The schemes of HTTP. */
export const HTTP_SCHEMES = ['http', 'https'] as const;

/** A scheme, two slashes and a host. The WHATWG parser would also accept `http:/host`. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/[^/\\?#]/i;
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/** Whether a text certainly exceeds {@link MAX_URL} characters of one or two UTF-16 units each. */
export function isTooLongForUrl(text: string): boolean {
  return text.length > 2 * MAX_URL;
}

/**
 * Whether the text is an absolute URL without blanks, with one of the schemes (in lower case). The
 * authority must be valid in HTTP, whatever the scheme. Backslashes are allowed in HTTP alone, where
 * the WHATWG parser treats them as slashes.
 */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  // The time to parse a host grows with the square of its length.
  if (isTooLongForUrl(text)) return false;
  const scheme = ABSOLUTE.exec(text)?.[1]?.toLowerCase() ?? '';
  return (
    schemes.includes(scheme) &&
    !BLANK_OR_CONTROL.test(text) &&
    isStorable(text) &&
    isParsable(inHttp(text)) &&
    ((HTTP_SCHEMES as readonly string[]).includes(scheme) || !text.includes('\\'))
  );
}

/**
 * Not `URL.canParse`: in Node.js 20 and 22, once V8 has compiled it after some thousand calls, it misreads letters
 * between U+0080 and U+00FF.
 */
function isParsable(url: string): boolean {
  try {
    new URL(url);
    return true;
  } catch {
    return false;
  }
}

/** The URL with the scheme `http`, the only kind whose host parsers normalise. */
export function inHttp(url: string): string {
  return url.replace(/^[^:]+/, 'http');
}

/** Whether a text has 1 to `max` characters. */
export function hasLength(text: string, max: number): boolean {
  return text.length >= 1 && (text.length <= max || codePoints(text) <= max);
}

const MAX_BIGINT = 9_223_372_036_854_775_807n;
const DIGITS = /^(?:0|[1-9]\d{0,18})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether the text is a numeric id in canonical form: no sign, no leading zero, at most 2^63-1. */
export function isNumericId(text: string): boolean {
  return DIGITS.test(text) && (text.length < 19 || BigInt(text) <= MAX_BIGINT);
}

/** Whether the text is a UUID in canonical form: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * An id in a request body, given as an integer or a string of digits; undefined for any other value. An
 * integer beyond 2^53 is refused, because parsing it has lost digits.
 */
export function numericIdOf(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === 'string' && isNumericId(value) ? value : undefined;
}
