import { type Span, within } from './partition-walk.js';

type Lock = 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED';

/**
 * Joins deliveries, as `d`, by their primary key; conditions on the row go into WHERE.
 *
 * The planner does not account for partition pruning during a join. To find 200 deliveries in 38
 * partitions, it would read all pending rows or whole tables: 41 ms instead of 4 while 300,000 retries
 * waited. LIMIT makes it look up each row separately. The redundant join condition makes it expect so
 * few rows that an UPDATE looks them up as well.
 *
 * @param id an expression for the id to join on
 * @param span the days of the deliveries
 */
export function joinDeliveryByKey(id: string, { lock, span }: { lock: Lock; span: Span }): string {
  return `JOIN LATERAL (SELECT * FROM deliveries WHERE id = ${id} AND ${within('id', span)} LIMIT 1 ${lock}) d ON d.id = ${id}`;
}

/**
 * Finds the rows of an UPDATE by `@ids` without a join, because the planner guesses how to join: on a new
 * partition, it rated a scan of all rows within the bounds, repeated for each row, as cheap as a lookup.
 * The subquery hides the ids from the planner, which would otherwise plan each execution again.
 */
export const IS_ONE_OF_IDS = '= ANY (ARRAY(SELECT unnest(@ids::uuid[])))';

/**
 * The element of an array at the position of delivery `d` in the sorted `@ids`. width_bucket() finds the
 * position by bisection: the number of ids that are not greater.
 *
 * @param array a parameter and its type
 */
export function atPlaceOfId(array: string): string {
  return `(${array})[width_bucket(d.id, @ids::uuid[])]`;
}

/** Sorts by id. If ids repeat, {@link atPlaceOfId} finds the last one. */
export function inOrder<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id)));
}

/** Bounds of all ids created by the same statement as this one: an event's and its deliveries'. */
export function boundsOf(id: string): { least: string; greatest: string } {
  // These ids share 48 bits of time, the version and 12 more bits of time.
  const prefix = id.slice(0, 19);
  return { least: `${prefix}0000-000000000000`, greatest: `${prefix}ffff-ffffffffffff` };
}
