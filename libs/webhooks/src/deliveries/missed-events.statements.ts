import { type JudgedRow, MAX_JUDGED_ROWS, MAX_SCANNED_ROWS } from '#libs/kernel';
import { type RowOf, statement } from '#libs/runtime';
import { coversSql, type JudgedEvent } from '../event-kinds/domain/matching.js';
import { daysAtOnce, type Span, within } from '../partitions/partition-days.js';
import { isFound, type MadeTogether, numberOf, withinBytes } from '../partitions/row-lookups.js';
import { MAX_ADDED } from './domain/delivery.js';

/** The counters of ids that `ACCEPT_EVENTS` creates are far below: new_uuid() has 20 bits for them. */
const LAST_COUNTER = 0xfffff;

/**
 * The id of a delivery that is added to an event: it shares the prefix of the event's, like those that are created with it,
 * and comes after them and after others that were added earlier.
 * @param added how many were added, with this one
 */
export function addedId(eventId: string, added: string, webhookId: string): string {
  return `(left(${eventId}::text, 19) || '8' || to_hex(${LAST_COUNTER - MAX_ADDED} + least(${added}, ${MAX_ADDED}))
      || right(md5(${eventId}::text || ${webhookId}), 10))::uuid`;
}

/**
 * The first delivery of event `@eventId` to a subscription. BETWEEN hides from the planner that all rows have one
 * subscription, so that it uses the index that begins with it.
 */
export function deliveryTo(webhookId: string): string {
  return firstDeliveryTo(webhookId, {
    eventId: '@eventId',
    condition: 'id BETWEEN @least::uuid AND @greatest::uuid',
  });
}

/** The first delivery of an event to a subscription, like {@link deliveryTo}. @param of `condition`: bounds of ids */
export function firstDeliveryTo(
  webhookId: string,
  of: { eventId: string; condition: string },
): string {
  return `SELECT id FROM deliveries
    WHERE webhook_id BETWEEN ${webhookId} AND ${webhookId}
      AND ${of.condition} AND event_id = ${of.eventId}
    ORDER BY webhook_id, id LIMIT 1`;
}

export const FIND_DELIVERY_IDS = statement<
  MadeTogether & { eventId: string; webhookIds: string[] },
  { webhookId: string; deliveryId: string }
>(`
SELECT w.id AS "webhookId", d.id AS "deliveryId"
FROM unnest(@webhookIds::bigint[]) AS w(id) CROSS JOIN LATERAL (${deliveryTo('w.id')}) d`);

/** How many days a statement with {@link isUntold} may cover. */
export const MISSED_DAYS = daysAtOnce('events', 'deliveries');

/**
 * Whether subscription `@missedBy` has no delivery of the event `id`, of the events `scanned`. Its deliveries in the range of
 * their ids are read once, because looking up each event would read those of a whole batch again and again. They are
 * hardly more than the events of the range and of the statements at its ends, which stored many together. LIMIT tells the
 * planner so, which would otherwise compare each with each.
 */
function isUntold(span: Span): string {
  const bound = (end: 'min' | 'max', rest: string) =>
    `(@missedBy::bigint, (SELECT (left(${end}(id::text), 19) || '${rest}')::uuid FROM scanned))`;
  return `NOT (id IN (
      SELECT event_id FROM deliveries
      WHERE (webhook_id, id) >= ${bound('min', '0000-000000000000')}
        AND (webhook_id, id) <= ${bound('max', 'ffff-ffffffffffff')} AND ${within('id', span)}
      ORDER BY webhook_id DESC, id DESC LIMIT ${2 * MAX_SCANNED_ROWS}
    ))`;
}

/** Whether a subscription to `@resources` covers the event's resource. */
export const IS_COVERED = coversSql('@resources::text', 'resource');

interface MissedValues {
  missedBy: string;
  accountId: string;
  applicationId: string | undefined;
  event: string;
  resources: string;
  until: string;
  after: string;
  limit: number;
}

/** An event without a delivery, with its data if they are read. */
export type MissedRow = JudgedRow & RowOf<JudgedEvent>;

/**
 * Of the events `scanned`, in their order, those that subscription `@missedBy` did not get count as `selected`.
 * @param columns other ones than `data`, `number` and `selected`
 * @param data whether the events' data are read
 */
export function untold(span: Span, columns: string, order: string, data: boolean): string {
  const rest = data ? 'data' : `number, number = ${MAX_JUDGED_ROWS} AS "isLast"`;
  const rows = `SELECT ${columns}, ${rest}, selected AND ${isUntold(span)} AS selected FROM scanned OFFSET 0`;
  return data ? withinBytes(rows, order, { returns: true, most: MAX_JUDGED_ROWS }) : rows;
}

/**
 * The next events that a subscription has missed and that can be sent to it, oldest first. Not prepared, because the best
 * plan depends on the times.
 * @param data whether the events' data are read
 */
export function findMissed(span: Span, { data }: { data: boolean }) {
  const order = 'account_id, id';
  const columns = 'id, account_id, "applicationId", event, resource, test, "createdAt"';
  return statement<MissedValues, MissedRow>(`
WITH scanned AS (
  SELECT id, account_id, application_id AS "applicationId", event, resource, test,
      created_at AS "createdAt", ${data ? 'data' : numberOf(order)},
      NOT test AND erased_at IS NULL AND event = @event AND ${IS_COVERED} AND added < ${MAX_ADDED}
        AND coalesce(@applicationId::bigint IS NULL OR application_id = @applicationId, false) AS selected
    FROM events
    WHERE (account_id, id) > (@accountId::bigint, @after::uuid)
      AND (account_id, id) < (@accountId::bigint, least_uuid(@until::timestamptz)) AND ${within('id', span)}
    ORDER BY ${order} LIMIT ${MAX_JUDGED_ROWS}
)
SELECT id, "applicationId", event, resource, test, "createdAt", ${data ? 'data' : 'NULL AS data'}, number,
  "isLast", matches
FROM (
  SELECT *, ${isFound([], { isRead: data })} AS matches
  FROM (
    ${untold(span, columns, order, data)}
  ) AS candidates
) AS found
WHERE matches OR "isLast" ORDER BY id LIMIT @limit::integer`);
}
