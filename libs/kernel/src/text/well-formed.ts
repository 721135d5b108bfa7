/** Whether PostgreSQL and every receiver accept the text: no U+0000, no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The length in code points, the unit of all limits. */
export function codePoints(text: string): number {
  let length = 0;
  // An array of them would take a hundred times the memory of the text.
  for (const _ of text) length += 1;
  return length;
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether the text can be a label: storable, without control characters. */
export function isPrintable(text: string): boolean {
  return isStorable(text) && !CONTROL.test(text);
}
