import { evictOldest, groupBy, timeOfId } from '#libs/kernel';
import { prepared, type Run, type Statement } from '#libs/runtime';
import { MAX_DAYS_BEFORE } from '../event-kinds/domain/matching.js';

/** A day in UTC, counted from 1970-01-01. Each table has one partition for each day. */
export type Day = number;

export const DAY_MS = 86_400_000;
/** How many days {@link eachDay} keeps in memory. */
const MAX_DAYS = 100;

/** The day of a UUIDv7. */
export function dayOf(id: string): Day {
  return Math.floor(timeOfId(id).getTime() / DAY_MS);
}

/**
 * Restricts an id to the partitions of some days. The bounds are literals, so that PostgreSQL prunes all
 * other partitions at planning time. A plan with parameters locks every partition and all its indexes,
 * 6,751 locks with 1,100 days, however few it reads. Prepared statements have the day in their name.
 *
 * @param id an expression
 * @param last by default the first day
 */
export function withinDays(id: string, first: Day, last: Day = first): string {
  return `(${id} >= '${leastIdAt(first * DAY_MS)}'::uuid AND ${id} < '${leastIdAt((last + 1) * DAY_MS)}'::uuid)`;
}

/** Groups items by the day of their id and keeps their order within each day. */
export function byDay<Item>(items: Iterable<Item>, idOf: (item: Item) => string): Map<Day, Item[]> {
  return groupBy(items, (item) => dayOf(idOf(item)));
}

/** Ids, grouped by spans of at most `days`, so that a statement opens only their partitions. */
export function inSpans(ids: Iterable<string>, days: number): [Span, string[]][] {
  const all = byDay(new Set(ids), (id) => id);
  const newest = [...all.keys()].sort((one, other) => other - one);
  return spansOf(newest, days).map((span) => [
    span,
    newest.filter((day) => day >= span.first && day <= span.last).flatMap((day) => all.get(day)!),
  ]);
}

/** A statement for one day, prepared under a separate name for each day. */
export function ofDay<Values extends object, Row extends object = object>(
  name: string,
  text: (day: Day) => string,
): (day: Day) => Statement<Values, Row> {
  return eachDay((day) => prepared(`${name}.${String(day)}`, text(day)));
}

/** Creates one object for each day on first use. */
export function eachDay<Kind>(make: (day: Day) => Kind): (day: Day) => Kind {
  const known = new Map<Day, Kind>();
  return (day) => {
    const one = known.get(day) ?? make(day);
    known.set(day, one);
    evictOldest(known, MAX_DAYS);
    return one;
  };
}

/** The end of the time that ids can have: a client may send any of them. */
const LAST_MS = 2 ** 48 - 1;

/** The lower bound of the ids that are created at a time, in ms. */
export function leastIdAt(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), LAST_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The lower bound of the ids that `new_uuid` gives at a time, in µs. */
export function leastIdAtMicros(micros: number): string {
  const ofMs = ((micros % 1_000) * 4).toString(16).padStart(3, '0');
  return `${leastIdAt(Math.floor(micros / 1_000)).slice(0, 13)}-7${ofMs}-8000-000000000000`;
}

/** The days from the first to the last, inclusive. */
export interface Span {
  first: Day;
  last: Day;
}

type Table = 'events' | 'deliveries' | 'attempts';

/** Locks of a statement for each day of a table: the partition and its indexes. */
const RELATIONS: Record<Table, number> = { events: 3, deliveries: 7, attempts: 2 };
/** Locks that a statement may take on partitions; with parents and joined tables, it takes fewer than 200. */
const MAX_LOCKS = 140;
/** The last day that an id can express with 48 bits of ms. */
const END_OF_TIME: Day = Math.floor(2 ** 48 / DAY_MS) - 1;
/** The days of the first span of a walk, without those ahead. */
const DAYS_AT_FIRST = 2;
/** Of missed events, and one day more, because PostgreSQL's clock may have been ahead. */
const DAYS_BEFORE = MAX_DAYS_BEFORE + 1;

export const DAYS = prepared<{ table: Table }, { day: Day }>(
  'partitions.days',
  `
SELECT (to_date(right(part.relname, 8), 'YYYYMMDD') - '1970-01-01'::date) AS day
FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid
WHERE i.inhparent = @table::regclass AND NOT i.inhdetachpending AND part.relname ~ '_[0-9]{8}$'
ORDER BY day DESC`,
);

/** The days for which a table has partitions, newest first. */
export async function daysOf(run: Run, table: Table): Promise<Day[]> {
  return (await run(DAYS, { table })).map(({ day }) => day);
}

/**
 * How many days a statement on these tables may cover. Name a table once for each use: reading it,
 * locking its rows and changing it each takes a separate lock.
 */
export function daysAtOnce(...tables: Table[]): number {
  const relations = tables.reduce((sum, table) => sum + RELATIONS[table], 0);
  return Math.floor(MAX_LOCKS / relations);
}

/** Restricts an id to the partitions of a span. */
export function within(id: string, { first, last }: Span): string {
  return withinDays(id, first, last);
}

/** The days that a page of a list may cover. @param after the id before the page */
export function daysListed(filter: { since?: Date; until?: Date }, after?: string): Span {
  const { since, until } = filter;
  const ends = [until && dayAt(until), after === undefined ? undefined : dayOf(after)];
  return {
    first: since ? dayAt(since) : 0,
    last: Math.min(END_OF_TIME, ...ends.filter((day) => day !== undefined)),
  };
}

/** The day of a time, or the nearest day that an id can express. */
export function dayAt(time: Date): Day {
  return Math.min(Math.max(Math.floor(time.getTime() / DAY_MS), 0), END_OF_TIME);
}

/** No delivery of the subscription is older than this day. */
export function firstDayOf(createdAt: Date): Day {
  return dayAt(createdAt) - DAYS_BEFORE;
}

/**
 * Walks through the partitions of a table from the newest day to the oldest, `days` at a time. The first
 * span has only the newest days, where most pages of a list end: planning a statement takes PostgreSQL longer than
 * reading a page, because it plans each day. That span is open-ended, so that no day is missed if this process's
 * clock is wrong. The oldest day is queried only if the walk continues.
 *
 * @param range limits the walk; its days need not exist
 */
export async function* newestFirst(
  run: Run,
  table: Table,
  days: number,
  range: Span,
): AsyncGenerator<Span> {
  const { first: wanted, last } = range;
  if (wanted > last) return;
  let first = Math.min(last, Math.floor(Date.now() / DAY_MS)) - DAYS_AT_FIRST + 1;
  yield { first: Math.max(first, wanted), last };
  if (first <= wanted) return;
  const oldest = Math.max(wanted, (await daysOf(run, table)).at(-1) ?? END_OF_TIME);
  for (; first > oldest; first -= days) {
    yield { first: Math.max(first - days, oldest), last: first - 1 };
  }
}

/** Splits a range into spans of `days`, oldest first. */
export function oldestFirst({ first, last }: Span, days: number): Span[] {
  const spans: Span[] = [];
  for (let day = first; day <= last; day += days) {
    spans.push({ first: day, last: Math.min(day + days - 1, last) });
  }
  return spans;
}

/**
 * Spans of at most `days` that contain all the given days.
 * @param newest newest first, without duplicates
 */
export function spansOf(newest: readonly Day[], days: number): Span[] {
  const spans: Span[] = [];
  for (const day of newest) {
    const span = spans.at(-1);
    if (span && span.last - day < days) span.first = day;
    else spans.push({ first: day, last: day });
  }
  return spans;
}
