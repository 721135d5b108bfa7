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
 * An id in a request body, given as an integer or a string of digits; undefined if the value is
 * neither. An integer beyond 2^53 has lost digits in parsing, so it is refused.
 */
export function numericIdOf(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === 'string' && isNumericId(value) ? value : undefined;
}
