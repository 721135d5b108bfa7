import { codePoints, isStorable } from './well-formed.js';

/** The longest URL, in characters. */
export const MAX_URL = 2_048;

/** The schemes of HTTP. */
export const HTTP_SCHEMES = ['http', 'https'] as const;

/** A scheme, two slashes and a host. The WHATWG parser would also accept `http:/host`. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/[^/\\?#]/i;
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/** Whether a text certainly exceeds {@link MAX_URL} characters, each of which is one or two UTF-16 units. */
export function isTooLongForUrl(text: string): boolean {
  return text.length > 2 * MAX_URL;
}

/** Whether the text is an absolute `http` or `https` URL without blanks; any host is accepted. */
export function isHttpUrl(text: string): boolean {
  return isUrl(text, HTTP_SCHEMES);
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
