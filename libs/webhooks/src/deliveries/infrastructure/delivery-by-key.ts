import { type Span, within } from './partition-walk.js';

type Lock = 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED';

/**
 * Joins deliveries, as `d`, by their primary key; conditions on the row go into WHERE.
 *
 * The planner does not reckon with passing over partitions while it joins, so to find 200
 * deliveries in 38 partitions it would rather read all that is pending, or all there is: 41 ms
 * instead of 4 while 300,000 retries waited. LIMIT makes it look up each by itself; the condition,
 * which says nothing new, makes it expect so few that an UPDATE looks them up as well.
 *
 * @param id an expression of what is joined with
 * @param span the days of the deliveries
 */
export function joinDeliveryByKey(id: string, { lock, span }: { lock: Lock; span: Span }): string {
  return `JOIN LATERAL (SELECT * FROM deliveries WHERE id = ${id} AND ${within('id', span)} LIMIT 1 ${lock}) d ON d.id = ${id}`;
}

/**
 * Finds the rows of an UPDATE by `@ids` without a join. How to join is a guess of the planner's: on a
 * partition that was just begun it took reading all within the bounds, again for each row, to be as cheap
 * as looking it up. As for bounds, the planner must not know the ids, or it would plan anew each time.
 */
export const IS_ONE_OF_IDS = '= ANY (ARRAY(SELECT unnest(@ids::uuid[])))';

/**
 * What an array has at the place at which `@ids`, which are in order, have the id of delivery `d`:
 * width_bucket() tells, by bisection, how many of them are not greater than that one.
 *
 * @param array a parameter and its type
 */
export function atPlaceOfId(array: string): string {
  return `(${array})[width_bucket(d.id, @ids::uuid[])]`;
}

/** Sorted by id; of several with the same id, {@link atPlaceOfId} finds the last. */
export function inOrder<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id)));
}

/** Bounds of the ids that the statement made that made this one: those of an event and of its deliveries. */
export function boundsOf(id: string): { least: string; greatest: string } {
  // 48 bits of time, the version and 12 bits of time: all of them share these.
  const prefix = id.slice(0, 19);
  return { least: `${prefix}0000-000000000000`, greatest: `${prefix}ffff-ffffffffffff` };
}
