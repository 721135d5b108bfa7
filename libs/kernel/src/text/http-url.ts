import { codePoints, isStorable } from './well-formed.js';

/** The longest URL, in characters. */
export const MAX_URL = 2_048;

/** The schemes of HTTP. */
export const HTTP_SCHEMES = ['http', 'https'] as const;

/** Scheme, and a host right behind the slashes: WHATWG's parser would forgive `http:/host`. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/[^/\\?#]/i;
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/** Whether it has more than {@link MAX_URL} characters, however many of them take two units of UTF-16. */
export function isTooLongForUrl(text: string): boolean {
  return text.length > 2 * MAX_URL;
}

/** Whether the text is an absolute `http` or `https` URL without blanks; any host will do. */
export function isHttpUrl(text: string): boolean {
  return isUrl(text, HTTP_SCHEMES);
}

/**
 * Whether the text is an absolute URL of one of the schemes (in lower case), without blanks. Its
 * authority must be one of HTTP, whatever the scheme; other schemes have no backslashes, which
 * WHATWG's parser takes for slashes in HTTP alone.
 */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  // Parsing a host takes time that grows with the square of its length.
  if (isTooLongForUrl(text)) return false;
  const scheme = ABSOLUTE.exec(text)?.[1]?.toLowerCase() ?? '';
  return (
    schemes.includes(scheme) &&
    !BLANK_OR_CONTROL.test(text) &&
    isStorable(text) &&
    URL.canParse(inHttp(text)) &&
    ((HTTP_SCHEMES as readonly string[]).includes(scheme) || !text.includes('\\'))
  );
}

/** A URL with the scheme `http`, for which alone parsers bring the host into one form. */
export function inHttp(url: string): string {
  return url.replace(/^[^:]+/, 'http');
}

/** Whether a text has 1 to `max` characters. */
export function hasLength(text: string, max: number): boolean {
  return text.length >= 1 && (text.length <= max || codePoints(text) <= max);
}
