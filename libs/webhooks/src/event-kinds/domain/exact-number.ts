/** A JSON number as its digits, so that it can have any number of them. */
export interface ExactNumber {
  sign: -1 | 0 | 1;
  /** The number is 0.`digits` times 10 to this power. */
  exponent: number;
  /** Without zeros at either end. */
  digits: string;
}

/** Limit of the exponent that a filter may contain, so that the clamped one of an event is always beyond it. */
export const MAX_EXPONENT = 1e9;
const CLAMPED_EXPONENT = 1e15;

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const ZERO = '0'.charCodeAt(0);

/** @param text as JSON spells it */
export function exactNumber(text: string): ExactNumber {
  const [, whole = '', fraction = ''] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (digits.charCodeAt(first) === ZERO) first += 1;
  if (first === digits.length) return { sign: 0, exponent: 0, digits: '' };
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const power = Math.max(-CLAMPED_EXPONENT, Math.min(exponentOf(text), CLAMPED_EXPONENT));
  return {
    sign: text.startsWith('-') ? -1 : 1,
    exponent: power + whole.length - first,
    digits: digits.slice(first, end),
  };
}

/** The exponent that a JSON number is written with. */
export function exponentOf(text: string): number {
  return Number(NUMBER.exec(text)?.[3] ?? 0);
}

/** Negative if the first number is less, positive if it is greater, else 0. */
export function compareNumbers(one: ExactNumber, other: ExactNumber): number {
  if (one.sign !== other.sign) return one.sign - other.sign;
  const byDigits = one.digits < other.digits ? -1 : Number(one.digits > other.digits);
  return one.sign * (one.exponent - other.exponent || byDigits);
}
