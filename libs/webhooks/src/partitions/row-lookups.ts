import { MAX_RETURNED_BYTES, MAX_SCANNED_BYTES, MAX_SCANNED_ROWS } from '#libs/kernel';
import { type Span, within } from './partition-days.js';

type Lock = 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED';

/**
 * Joins deliveries, as `d`, by their primary key; conditions on the row go into WHERE.
 *
 * The planner does not account for partition pruning during a join. To find 200 deliveries in 38
 * partitions, it would read all pending rows or whole tables: 41 ms instead of 4 while 300,000 retries
 * waited. LIMIT makes it look up each row separately. The redundant join condition makes it expect so
 * few rows that an UPDATE looks them up as well.
 *
 * The array hides the id from partition pruning during the join, because PostgreSQL 18 (18.4) confuses it with the check
 * of a row that another transaction has changed: the row is not found, or the server crashes.
 *
 * @param id an expression for the id to join on
 * @param span the days of the deliveries
 */
export function joinDeliveryByKey(id: string, { lock, span }: { lock: Lock; span: Span }): string {
  const found = `id = ANY (array_append('{}'::uuid[], ${id})) AND ${within('id', span)}`;
  return `JOIN LATERAL (SELECT * FROM deliveries WHERE ${found} LIMIT 1 ${lock}) d ON d.id = ${id}`;
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
export function elementOfDelivery(array: string): string {
  return `(${array})[width_bucket(d.id, @ids::uuid[])]`;
}

/** Sorts by id. If ids repeat, {@link elementOfDelivery} finds the last one. */
export function sortedById<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id)));
}

/** Bounds of all ids created by the same statement: an event's and its deliveries'. */
export interface MadeTogether {
  least: string;
  greatest: string;
}

/** The bounds of the ids that were created together with this one. */
export function boundsOf(id: string): MadeTogether {
  // These ids share 48 bits of time, the version and 12 more bits of time.
  const prefix = id.slice(0, 19);
  return { least: `${prefix}0000-000000000000`, greatest: `${prefix}ffff-ffffffffffff` };
}

/**
 * The rows of one owner, newest first, by comparing and ordering pairs of owner and id. With `owner = @value`, the
 * planner may read the rows of all owners in the order of ids, if most of them belong to this owner. With pairs, only
 * the index on both columns fits, and it starts at the right row.
 *
 * The statement's values are `@since`, `@until` and `@after`, besides `value`.
 */
export function ownedRows(owner: 'webhook_id' | 'account_id', value: string, alias = '') {
  const pair = `(${alias}${owner}, ${alias}id)`;
  const first = `CASE WHEN @since::timestamptz IS NULL THEN '${LEAST}'::uuid ELSE least_uuid(@since) END`;
  const end = `CASE WHEN @until::timestamptz IS NULL THEN '${GREATEST}'::uuid
      ELSE least_uuid(@until + interval '1 ms') END`;
  return {
    condition: `${pair} >= (${value}::bigint, ${first})
    AND ${pair} < (${value}::bigint, least(@after::uuid, ${end}))`,
    order: `${alias}${owner} DESC, ${alias}id DESC`,
  };
}

/** The column `isLast` of a scan that ends with `LIMIT` {@link MAX_SCANNED_ROWS}. */
export function isLastOf(order: string): string {
  return `row_number() OVER (ORDER BY ${order}) = ${MAX_SCANNED_ROWS} AS "isLast"`;
}

/** The column `number` of a scan, from 1. */
export function numberOf(order: string): string {
  return `(row_number() OVER (ORDER BY ${order}))::integer AS number`;
}

/** How a scan is limited by the bytes of `data`. */
interface ByteLimit {
  /** Whether the data are not only read, but also returned. */
  returns: boolean;
  /** The limit of rows. */
  most?: number;
}

/**
 * Limits a scan by the bytes of `data` that have to be read, too: adds `isLast`, and `isRead`, which is false for the rows
 * behind that one, and the `number` of each row. PostgreSQL knows the length of a long text without reading it.
 * @param rows at most as many rows as the limit, in their order, with `data`, and `selected` if their data count
 * @param order the same order, for its rows
 */
export function withinBytes(
  rows: string,
  order: string,
  { returns, most = MAX_SCANNED_ROWS }: ByteLimit,
): string {
  const bytes = returns ? MAX_RETURNED_BYTES : MAX_SCANNED_BYTES;
  const isRead = `before < ${bytes}`;
  return `SELECT *, ${isRead} AS "isRead",
    ${isRead} AND (number = ${most} OR before + size >= ${bytes}) AS "isLast"
  FROM (
    SELECT *, ${numberOf(order)},
      coalesce(sum(size) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (${rows}) AS d
    ) AS d
  ) AS d`;
}

/** Whether the data of a row of {@link withinBytes} contain the text `@contains`. */
export const CONTAINS = 'strpos(data, @contains) > 0';

/** Whether a row of a scan is found: it is `selected`, was read if it has to be, and meets further conditions. */
export function isFound(conditions: readonly string[], { isRead }: { isRead: boolean }): string {
  const all = ['selected', ...conditions].join(' AND ');
  return isRead ? `CASE WHEN "isRead" THEN ${all} ELSE false END` : all;
}

const LEAST = '00000000-0000-0000-0000-000000000000';
const GREATEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
