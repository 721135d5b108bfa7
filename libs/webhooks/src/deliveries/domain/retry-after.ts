const LONGEST_MS = 24 * 3_600_000;

/**
 * How long a `Retry-After` header (RFC 9110, section 10.2.3: seconds or an HTTP date) asks to
 * wait, in ms: at most a day; undefined when it is none, or past.
 */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  // All three forms of a date are in GMT; that of asctime does not say so.
  const date = /^[A-Za-z]{3} [A-Za-z]{3} .*\d{4}$/.test(text) ? `${text} GMT` : text;
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(date) - now.getTime();
  // A negative number or a word is no date in any of the three forms.
  if (Number.isNaN(wait) || wait <= 0 || !/^\d+$|^[A-Za-z]{3,9},? /.test(text)) return undefined;
  return Math.min(wait, LONGEST_MS);
}
