import { scheduleOf } from '../../subscriptions/domain/retry-policy.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import type { Conclusion, LeasedDelivery } from './pending-deliveries.js';

/** Share of a delay by which it is randomly longer or shorter. */
const JITTER = 0.2;
/** Longest wait for which a target can ask, in ms. */
const LONGEST_WAIT_MS = 24 * 3_600_000;
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
  // The text form of a Date in JavaScript.
  `[a-z]{3},? ${MONTH} ${DAY} ${YEAR} ${TIME}${ZONE}(?: \\([^)]*\\))?`,
].map((form) => new RegExp(`^${form}$`, 'i'));
const MAX_DATE_LENGTH = 100;

/**
 * The state of a delivery after an attempt, and when the next one is due: by the schedule of its subscription, or
 * later if the target asked for it. An attempt outside the schedule changes nothing about it.
 * @param configured the default schedule, in ms
 */
export function conclusionOf(
  delivery: LeasedDelivery,
  verdict: Verdict,
  configured: readonly number[],
): Conclusion {
  if (verdict.kind === 'succeeded') return { state: 'succeeded' };
  if (verdict.kind === 'gone') return { state: 'exhausted', reason: 'gone' };
  const { subscription, immediate, attempt, scheduleBase, extraAttempts } = delivery;
  if (delivery.isExtra) {
    return { state: 'pending', delayMs: verdict.retryAfterMs ?? 0, resumes: true };
  }
  const schedule = immediate ? [] : scheduleOf(subscription.retry, configured);
  // At least 1, because a redelivery by version 1.1 keeps the number of extra attempts.
  const failures = Math.max(attempt - scheduleBase - extraAttempts, 1);
  const delayMs = retryDelay(schedule, failures, Math.random());
  if (delayMs === undefined) return { state: 'exhausted', reason: 'no_attempts_left' };
  return { state: 'pending', delayMs: Math.max(delayMs, verdict.retryAfterMs ?? 0) };
}

/**
 * The delay in ms before the next attempt, or undefined if the schedule has ended.
 * @param failures failed attempts since the schedule started, at least 1
 * @param random a number from 0 to 1
 */
export function retryDelay(
  schedule: readonly number[],
  failures: number,
  random: number,
): number | undefined {
  const delay = schedule[failures - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)));
}

/**
 * The wait in ms that a `Retry-After` header (RFC 9110, section 10.2.3: seconds or an HTTP date)
 * requests, at most a day; undefined if the header is absent, invalid or in the past.
 */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : timeOf(text, now) - now.getTime();
  return wait > 0 ? Math.min(wait, LONGEST_WAIT_MS) : undefined;
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
