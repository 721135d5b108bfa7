const LONGEST_MS = 24 * 3_600_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const MONTH = '(?<month>[a-z]{3})';
const DAY = '(?<day>\\d\\d?)';
const YEAR = '(?<year>\\d{4})';
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)';
const ZONE = '(?: ?(?:GMT|UTC?|Z)?(?<hours>[+-]\\d\\d):?(?<minutes>\\d\\d)| ?(?:GMT|UTC?|Z))?';
/** `Date.parse` accepts more, but reads a date without a zone in the zone of this process. */
const DATES = [
  // IMF-fixdate, RFC 850, and their like.
  `(?:[a-z]{3,9},? )?${DAY}[ -]${MONTH}[ -](?:${YEAR}|(?<shortYear>\\d\\d)) ${TIME}${ZONE}`,
  // asctime, and what the command date writes.
  `[a-z]{3},? ${MONTH} ${DAY} ${TIME}${ZONE} ${YEAR}`,
  // A Date of JavaScript as text.
  `[a-z]{3},? ${MONTH} ${DAY} ${YEAR} ${TIME}${ZONE}(?: \\([^)]*\\))?`,
].map((form) => new RegExp(`^${form}$`, 'i'));
const MAX_DATE_LENGTH = 100;

/**
 * The wait in ms that a `Retry-After` header (RFC 9110, section 10.2.3: seconds or an HTTP date)
 * requests, at most a day; undefined if the header is absent, invalid or in the past.
 */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : timeOf(text, now) - now.getTime();
  return wait > 0 ? Math.min(wait, LONGEST_MS) : undefined;
}

/** The time of an HTTP date (RFC 9110, section 5.6.7), in GMT if it names no zone; NaN for other texts. */
function timeOf(text: string, now: Date): number {
  if (text.length > MAX_DATE_LENGTH) return NaN;
  const words = text.replace(/\s+/g, ' ');
  const found = DATES.map((form) => form.exec(words)?.groups).find((groups) => groups);
  if (!found) return NaN;
  const { month = '', day = '', time = '', hours, minutes } = found;
  const year = found['year'] ?? longYear(Number(found['shortYear']), now);
  const monthNumber = String(MONTHS.indexOf(month.toLowerCase()) + 1).padStart(2, '0');
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  // A leap second counts as the second before it, because Date has none.
  const second = time.replace(/60$/, '59');
  return Date.parse(`${year}-${monthNumber}-${day.padStart(2, '0')}T${second}${zone}`);
}

/** More than fifty years in the future means the past (RFC 9110, section 5.6.7). */
function longYear(shortYear: number, now: Date): number {
  const year = 2_000 + shortYear;
  return year > now.getUTCFullYear() + 50 ? year - 100 : year;
}
