import { LOOKED_AT } from '#libs/kernel';
import type { Delivery, DeliveryReason, DeliveryState } from '../domain/delivery.js';
import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';
import { shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import { daysAtOnce, type Span, within } from './partition-walk.js';
import {
  IS_BLOCKED,
  IS_FREE,
  OFF_REASON,
} from '../../subscriptions/infrastructure/webhook-flow.js';

/** Whether the subscription of a pending delivery was switched off, or deleted, since it was made. */
const IS_OUTDATED = 'w.generation IS NULL OR d.generation < w.generation';

/**
 * The state that is shown: a pending delivery counts as cancelled as soon as its subscription
 * was switched off, before its row says so, and as parked while its subscription is held, paused, or
 * behind an open circuit.
 */
const SHOWN_STATE = `CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN ${IS_OUTDATED} THEN 'cancelled'
    WHEN ${IS_BLOCKED} AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END`;

/** What is shown of a delivery's end: one that counts as cancelled is complete before its row says so. */
const END = `CASE WHEN d.state = 'pending' AND (${IS_OUTDATED}) THEN ${OFF_REASON} ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (${IS_OUTDATED})
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS completed_at`;

/** Whether a worker has it, or the queue: until then nobody else may send it. */
const IS_LEASED = `coalesce(d.claimed_until > now(), false)`;

/**
 * @param ofEvent bounds of the event's id `e.id`: those of the delivery's do not keep other partitions shut
 * @param from what has the deliveries
 * @param columns of it that are told as well
 */
function shown(ofEvent: string, from = 'deliveries', columns = ''): string {
  return `
  SELECT ${columns} d.id, d.event_id, d.webhook_id, d.account_id, d.event, e.resource, e.application_id,
    w.target_url, ${SHOWN_STATE} AS state, d.attempts,
    CASE WHEN ${IS_LEASED} THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused THEN greatest(d.next_attempt_at, w.hold_until, w.open_until)
    END AS next_attempt_at,
    d.created_at, ${END}, coalesce(e.test, false) AS test
  FROM ${from} d
  LEFT JOIN webhooks w ON w.id = d.webhook_id
  LEFT JOIN events e ON e.id = d.event_id AND ${ofEvent}`;
}

// Whatever finds a delivery by its id has no name: PostgreSQL plans it for that id, and opens the one
// partition. A plan that is kept opens all of them (docs/decisions).

/** $1 event, $2 and $3 the bounds of the ids that its statement made. */
export const DELIVERIES_OF_EVENT = {
  text: `${shown('e.id = $1')}
  WHERE d.id BETWEEN $2::uuid AND $3::uuid AND d.event_id = $1 ORDER BY d.id`,
};

/** $1 delivery, $2 account, $3 and $4 the bounds of the ids that its statement made. */
export const FIND_DELIVERY = {
  text: `${shown('e.id BETWEEN $3::uuid AND $4::uuid')}
  WHERE d.id = $1 AND d.account_id = $2`,
};

/** What is stored of deliveries that are shown in a state, where indexes find it. */
const STORED_AS: Record<DeliveryState, string | undefined> = {
  pending: `d.state = 'pending'`,
  parked: `d.state = 'pending'`,
  succeeded: undefined,
  exhausted: `d.state = 'exhausted'`,
  cancelled: `(d.state = 'cancelled' OR d.state = 'pending')`,
};

/** What these indexes hold, where it is in another order than a list and has to be sorted. */
const SORTED: Partial<Record<DeliveryState, string[]>> = {
  pending: [`state = 'pending'`],
  parked: [`state = 'pending'`],
  cancelled: [`state = 'pending'`, `state IN ('exhausted', 'cancelled')`],
};

/** How many days {@link listDeliveries} may be about. */
export const DAYS_LISTED = daysAtOnce('deliveries', 'events');

/** Whether so few have to be sorted that it can be done for a page; undefined: none have to be. $1 webhook */
export function areFew(state: DeliveryState, span: Span): { text: string } | undefined {
  const counts = SORTED[state]?.map(
    (condition) => `(SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = $1 AND ${condition} AND ${within('id', span)}
  LIMIT ${LOOKED_AT + 1}
) counted)`,
  );
  return counts && { text: `SELECT ${counts.join(' + ')} <= ${LOOKED_AT} AS few` };
}

/**
 * $1 webhook, $2 after, $3 limit, $4 state, $5 event, $6 since, $7 until. Without a name: a plan
 * for any limit and any filter sorts all deliveries of the subscription.
 * @param state as $4, for which indexes are used; undefined to look at all deliveries, one after the other
 */
export function listDeliveries(state: DeliveryState | undefined, span: Span): { text: string } {
  const stored = state && STORED_AS[state];
  // Else it is planned for the order of the list, and reads all that is not in that state.
  const isSorted = state !== undefined && SORTED[state] !== undefined;
  const wanted = (columns: string): string => `
    SELECT d.*, ${columns}
    FROM (
      SELECT * FROM deliveries d WHERE d.webhook_id = $1 AND ${within('d.id', span)}
        ${stored === undefined ? '' : `AND ${stored}`} ${isSorted ? 'OFFSET 0' : ''}
    ) d LEFT JOIN webhooks w ON w.id = d.webhook_id
    WHERE ($2::uuid IS NULL OR d.id < $2)
      AND ($6::timestamptz IS NULL OR (d.created_at >= $6 AND d.id >= least_uuid($6)))
      AND ($7::timestamptz IS NULL OR (d.created_at < $7 AND d.id < least_uuid($7 + interval '1 ms')))
    ORDER BY d.id DESC`;
  const place = 'row_number() OVER (ORDER BY d.id DESC)::integer AS place';
  const matches = `($4::text IS NULL OR ${SHOWN_STATE} = $4) AND ($5::text IS NULL OR d.event = $5) AS matches`;
  const found = `SELECT * FROM (${wanted(`${place}, ${matches}`)} LIMIT ${LOOKED_AT}) AS looked_at
    WHERE matches OR place = ${LOOKED_AT} ORDER BY id DESC LIMIT $3`;
  return {
    text: `${shown(within('e.id', span), `(${found})`, 'd.place, d.matches,')}
  ORDER BY d.id DESC`,
  };
}

/** Whether anything is ever shown in that state. */
export function isDeliveryState(text: string): text is DeliveryState {
  return Object.hasOwn(STORED_AS, text);
}

/** $1 delivery, $2 the number of the attempt before, $3 limit. No lease has had a lower number than its attempt. */
export const LIST_ATTEMPTS = {
  text: `
SELECT number, at, duration_ms, status, error, address, response_headers, response_body, truncated
FROM attempts WHERE delivery_id = $1 AND take >= $2 AND number > $2 ORDER BY take LIMIT $3`,
};

/**
 * Starts the schedule anew, under the subscription's present generation.
 * $1 delivery, $2 whether it may go onto the queue at once, $3 lease in ms
 */
export const REDELIVER = {
  text: `
UPDATE deliveries d
SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
  immediate = false, replayed = false, generation = w.generation,
  next_attempt_at = coalesce(lease.ends, now()), claimed_until = lease.ends
FROM webhooks w CROSS JOIN LATERAL (
  SELECT CASE
    WHEN $2::boolean AND ${IS_FREE} THEN now() + make_interval(secs => $3::float8 / 1000)
  END AS ends
) lease
WHERE d.id = $1 AND w.id = d.webhook_id AND w.enabled AND w.deleted_at IS NULL
  AND (d.state <> 'pending' OR d.generation < w.generation)
  -- Cancelled, it may still be on its way.
  AND NOT ${IS_LEASED}
RETURNING d.id, d.takes AS lease, d.webhook_id, d.immediate, d.claimed_until IS NOT NULL AS queued`,
};

/**
 * $1 delivery. One that a worker may have keeps its lease: its attempt ends and is recorded, and
 * until then it is not sent anew. One that was only ever on the queue loses it, and no job takes it.
 */
export const CANCEL_REQUESTED = {
  text: `
UPDATE deliveries d
SET state = 'cancelled', reason = 'requested', completed_at = now(),
  claimed_until = CASE WHEN d.takes > 0 THEN d.claimed_until END
FROM webhooks w
WHERE d.id = $1 AND w.id = d.webhook_id AND d.state = 'pending' AND d.generation >= w.generation
RETURNING d.id`,
};

/** $1 webhook, $2 resource, $3 data, $4 whether the queue has room, $5 lease in ms, $6 its span. */
export const CREATE_TEST = {
  name: 'deliveries.create-test',
  text: `
WITH w AS (
  SELECT * FROM webhooks WHERE id = $1 AND enabled AND deleted_at IS NULL
),
sample AS (
  INSERT INTO events (id, account_id, application_id, event, resource, test, occurred_at,
    created_at, traceparent, data)
  SELECT new_uuid(now(), 1), account_id, application_id, event, $2, true, now(), now(), $6, $3 FROM w
  RETURNING id
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, immediate,
  next_attempt_at, claimed_until, created_at)
SELECT new_uuid(now(), 2), sample.id, w.id, w.account_id, w.event, w.generation, true,
  coalesce(lease.ends, now()), lease.ends, now()
FROM w, sample, (
  SELECT CASE WHEN $4::boolean THEN now() + make_interval(secs => $5::float8 / 1000) END AS ends
) lease
RETURNING id, takes AS lease, webhook_id, immediate, claimed_until IS NOT NULL AS queued`,
};

export interface DeliveryRow {
  id: string;
  event_id: string;
  webhook_id: string;
  event: EventKind;
  resource: Resource;
  application_id: string | null;
  target_url: string;
  state: DeliveryState;
  reason: DeliveryReason | null;
  attempts: number;
  next_attempt_at: Date | null;
  created_at: Date;
  completed_at: Date | null;
  test: boolean;
}

export function deliveryOf(row: DeliveryRow): Delivery {
  const waits = row.state === 'pending' || row.state === 'parked';
  return {
    id: row.id,
    eventId: row.event_id,
    webhookId: row.webhook_id,
    event: row.event,
    resource: row.resource,
    ...(row.application_id !== null && { applicationId: row.application_id }),
    targetUrl: shownTargetUrl(row.target_url),
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    attempts: row.attempts,
    ...(waits && row.next_attempt_at !== null && { nextAttemptAt: row.next_attempt_at }),
    createdAt: row.created_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
    test: row.test,
  };
}
