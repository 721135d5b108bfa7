import { statement } from '#libs/runtime';
import { ATTEMPT_COLUMNS } from '../../deliveries/infrastructure/delivery.statements.js';
import type { AttemptRow } from '../../deliveries/infrastructure/sent-text.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-walk.js';
import {
  boundsOfSpan,
  type DeliveryRow,
  shown,
} from '../../deliveries/infrastructure/shown-delivery.statements.js';

/** How many days {@link findDeliveries} and {@link findAttempts} may cover. */
export const DAYS_FOUND = daysAtOnce('deliveries', 'events', 'attempts');

interface Wanted {
  accountId: string;
  /** Deliveries. */
  ids: string[];
  /** Events, and the bounds of the ids of what was created with each. */
  eventIds: string[];
  least: string[];
  greatest: string[];
}

/** Deliveries by their ids, and those of events. Not prepared, so that only the partitions of the span open. */
export function findDeliveries(span: Span) {
  return statement<Wanted, DeliveryRow>(`${shown(
    boundsOfSpan(span),
    `(
    SELECT * FROM deliveries d
    WHERE d.id = ANY (@ids::uuid[]) AND ${within('d.id', span)} AND d.account_id = @accountId
    UNION
    SELECT d.* FROM unnest(@eventIds::uuid[], @least::uuid[], @greatest::uuid[]) g(event_id, least, greatest)
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d
      WHERE d.id BETWEEN g.least AND g.greatest AND ${within('d.id', span)}
        AND d.account_id = @accountId AND d.event_id = g.event_id
      OFFSET 0
    ) d
  )`,
  )}
  ORDER BY d.id`);
}

/** Attempts of deliveries by their numbers, in pairs. */
export function findAttempts(span: Span) {
  return statement<{ deliveryIds: string[]; numbers: number[] }, AttemptRow>(`
  SELECT g.delivery_id AS "deliveryId", a.*
  FROM unnest(@deliveryIds::uuid[], @numbers::integer[]) g(delivery_id, number)
  CROSS JOIN LATERAL (
    SELECT ${ATTEMPT_COLUMNS} FROM attempts
    WHERE delivery_id = g.delivery_id AND ${within('delivery_id', span)} AND take >= g.number
      AND number = g.number
    ORDER BY take LIMIT 1
  ) a`);
}
