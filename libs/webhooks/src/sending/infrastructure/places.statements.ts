import type { Day } from '../../partitions/partition-days.js';
import { LEASES, lockedDelivery } from './pending-delivery.statements.js';

/**
 * Places in `in_flight` of subscriptions that are ordered or limit their calls in flight. A claim takes a place until
 * the end of its lease, and the record of the outcome frees it.
 */

/** The place of a delivery under one lease, so that a worker that lost its lease cannot free the place of another. */
export const placeOf = (id: string, lease: string): string => `${id} || ' ' || ${lease}`;

/**
 * The query `found`: selects and locks deliveries with their places. While another transaction has the subscription locked, `webhook_id`
 * is null, and the place stays.
 */
export const foundWithPlace = (day: Day): string => `SELECT d.id, w.id AS webhook_id,
    ${placeOf('d.id', 'j.lease')} AS place
  FROM ${LEASES} AS j(id, lease)${lockedDelivery(day)}
  LEFT JOIN LATERAL (
    SELECT id FROM webhooks WHERE id = d.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w ON true`;

/** Frees the places of the rows of `found`. */
export const FREED = `freed AS (
  UPDATE webhooks w
  SET in_flight = w.in_flight - ARRAY(SELECT place FROM found WHERE webhook_id = w.id)
  WHERE w.id = ANY (ARRAY(SELECT webhook_id FROM found)) AND w.in_flight IS NOT NULL
)`;
