/** The time of a UUIDv7, whose first 48 bits are ms since 1970. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

// RFC 3339, section 5.6. Date checks the calendar, but would accept 24:00 as the next day.
const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;

/** The rule for a time in a request, in words. */
export const TIME_RULE =
  'must be an RFC 3339 time with Z or an offset, such as 2026-01-31T12:00:00Z or ' +
  '2026-01-31T13:00:00+01:00, of the years 1 to 9999 in UTC';

/** The rule for a cursor of the feed in a request, in words. */
export const CURSOR_RULE = 'must be a cursor, as in the header Switchhook-Cursor';

// The range that both RFC 3339 and PostgreSQL can represent, in UTC.
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** The time of an RFC 3339 text; undefined if it is not valid. */
export function parseTime(text: string): Date | undefined {
  const [, date, minute, second, fraction = '', offset] = TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  const isLeap = second === '60';
  const precise = fraction.slice(0, 4);
  const time = new Date(
    `${date}T${minute}:${isLeap ? '59' : second}${precise}${offset?.toUpperCase()}`,
  );
  if (isLeap) {
    // Date has no leap seconds, so this becomes the first second of the next day in UTC.
    time.setTime(time.getTime() + 1_000);
    if (!(time.getTime() % DAY_MS < 1_000)) return undefined;
  }
  if (!(time.getTime() >= FIRST_TIME && time.getTime() <= LAST_TIME)) return undefined;
  // Date turns 2026-02-30 into a day in March, but a day that does not exist is a fault.
  const day = Number(text.slice(8, 10));
  const daysInMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0));
  return day <= daysInMonth.getUTCDate() ? time : undefined;
}
