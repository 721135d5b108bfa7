import { codePoints, isStorable } from './well-formed.js';

/** The longest URL, in characters. */
export const MAX_URL = 2_048;

/** Scheme, and a host right behind the slashes: WHATWG's parser would forgive `http:/host`. */
const ABSOLUTE = /^https?:\/\/[^/\\?#]/i;
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/** Whether the text is an absolute `http` or `https` URL without blanks; any host will do. */
export function isHttpUrl(text: string): boolean {
  return (
    ABSOLUTE.test(text) && !BLANK_OR_CONTROL.test(text) && isStorable(text) && URL.canParse(text)
  );
}

/** Whether a text has 1 to `max` characters. */
export function hasLength(text: string, max: number): boolean {
  return text.length >= 1 && (text.length <= max || codePoints(text) <= max);
}
