/**
 * Places in `in_flight` of subscriptions that are ordered or limit their calls in flight. A claim takes a place until
 * the end of its lease, and the record of the outcome frees it.
 */

/** The place of a delivery under one lease, so that a worker that lost its lease cannot free the place of another. */
export const placeOf = (id: string, lease: string): string => `${id} || ' ' || ${lease}`;

/** Locks the subscription `w` of delivery `d`. While another has it locked, there is no `w`, and the place stays. */
export const LOCK_SUBSCRIPTION = `LEFT JOIN LATERAL (
    SELECT id FROM webhooks WHERE id = d.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w ON true`;

/** Whether the subscription of delivery `d` is ordered. */
export const IS_ORDERED = '(SELECT ordered FROM webhooks WHERE id = d.webhook_id)';

/** Frees the places of a query's rows. @param rows its name; its columns are `webhook_id`, null if locked, and `place` */
export const freed = (rows: string): string => `freed AS (
  UPDATE webhooks w
  SET in_flight = w.in_flight - ARRAY(SELECT place FROM ${rows} WHERE webhook_id = w.id)
  WHERE w.id = ANY (ARRAY(SELECT webhook_id FROM ${rows})) AND w.in_flight IS NOT NULL
)`;
