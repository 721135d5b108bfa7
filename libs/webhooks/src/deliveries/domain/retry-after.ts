const LONGEST_MS = 24 * 3_600_000;

/**
 * The wait in ms that a `Retry-After` header (RFC 9110, section 10.2.3: seconds or an HTTP date)
 * requests, at most a day; undefined if the header is absent, invalid or in the past.
 */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  // All three date formats are in GMT, but the asctime format does not say so.
  const date = /^[A-Za-z]{3} [A-Za-z]{3} .*\d{4}$/.test(text) ? `${text} GMT` : text;
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(date) - now.getTime();
  // None of the three date formats is a negative number or a single word.
  if (Number.isNaN(wait) || wait <= 0 || !/^\d+$|^[A-Za-z]{3,9},? /.test(text)) return undefined;
  return Math.min(wait, LONGEST_MS);
}
