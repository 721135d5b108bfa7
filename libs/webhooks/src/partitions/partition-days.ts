import { evictOldest } from '#libs/kernel';
import { prepared, type Statement } from '#libs/runtime';

/** A day in UTC, counted from 1970-01-01. Each table has one partition for each day. */
export type Day = number;

export const DAY_MS = 86_400_000;
/** How many days {@link eachDay} keeps in memory. */
const MAX_DAYS = 100;

/** The day of a UUIDv7, whose first 48 bits are ms since 1970. */
export function dayOf(id: string): Day {
  return Math.floor(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / DAY_MS);
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
  return `(${id} >= '${leastIdOf(first)}'::uuid AND ${id} < '${leastIdOf(last + 1)}'::uuid)`;
}

/** Groups items by the day of their id and keeps their order within each day. */
export function byDay<Item>(items: Iterable<Item>, idOf: (item: Item) => string): Map<Day, Item[]> {
  const days = new Map<Day, Item[]>();
  for (const item of items) {
    const day = dayOf(idOf(item));
    const known = days.get(day);
    if (known) known.push(item);
    else days.set(day, [item]);
  }
  return days;
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

/** The lower bound of a day's ids. */
function leastIdOf(day: Day): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
