import type { FieldFault } from '../errors/domain-error.js';

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

/** The faults of changed fields. Older versions stored such values, which may stay until they are changed. */
export function bidiFaults(changed: object): FieldFault[] {
  return Object.entries(changed).flatMap(([field, value]: [string, unknown]) =>
    typeof value === 'string' && hasBidiControl(value)
      ? [{ field, code: 'format' as const, message: `${field} ${BIDI_RULE}.` }]
      : [],
  );
}
