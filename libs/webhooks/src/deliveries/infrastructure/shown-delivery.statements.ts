import { LOOKED_AT, type LookedAt } from '#libs/kernel';
import { statement } from '#libs/runtime';
import type { Delivery, DeliveryReason, DeliveryState } from '../domain/delivery.js';
import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';
import { shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import { daysAtOnce, type Span, within } from './partition-walk.js';
import { IS_BLOCKED, OFF_REASON } from '../../subscriptions/infrastructure/webhook-flow.js';

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
export const IS_LEASED = `coalesce(d.claimed_until > now(), false)`;

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

// Whatever finds a delivery by its id is not prepared: PostgreSQL plans it for that id, and opens the one
// partition. A plan that is kept opens all of them (docs/decisions).

/** The bounds of the ids that a statement made, those of its events and of their deliveries. */
interface MadeTogether {
  least: string;
  greatest: string;
}

export const DELIVERIES_OF_EVENT = statement<
  MadeTogether & { eventId: string },
  DeliveryRow
>(`${shown('e.id = @eventId')}
  WHERE d.id BETWEEN @least::uuid AND @greatest::uuid AND d.event_id = @eventId ORDER BY d.id`);

export const FIND_DELIVERY = statement<
  MadeTogether & { id: string; accountId: string },
  DeliveryRow
>(`${shown('e.id BETWEEN @least::uuid AND @greatest::uuid')}
  WHERE d.id = @id AND d.account_id = @accountId`);

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

/** Whether so few have to be sorted that it can be done for a page; undefined: none have to be. */
export function areFew(state: DeliveryState, span: Span) {
  const counts = SORTED[state]?.map(
    (condition) => `(SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = @webhookId AND ${condition} AND ${within('id', span)}
  LIMIT ${LOOKED_AT + 1}
) counted)`,
  );
  if (!counts) return undefined;
  return statement<{ webhookId: string }, { few: boolean }>(
    `SELECT ${counts.join(' + ')} <= ${LOOKED_AT} AS few`,
  );
}

interface DeliveriesPage {
  webhookId: string;
  after: string | undefined;
  limit: number;
  state: DeliveryState | undefined;
  event: string | undefined;
  since: string | undefined;
  until: string | undefined;
}

/**
 * Not prepared: a plan for any limit and any filter sorts all deliveries of the subscription.
 * @param state as the value, for which indexes are used; undefined to look at all deliveries, one after the other
 */
export function listDeliveries(state: DeliveryState | undefined, span: Span) {
  const stored = state && STORED_AS[state];
  // Else it is planned for the order of the list, and reads all that is not in that state.
  const isSorted = state !== undefined && SORTED[state] !== undefined;
  return statement<DeliveriesPage, DeliveryRow & LookedAt>(`${shown(
    within('e.id', span),
    `(
    SELECT * FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.id DESC)::integer AS place,
        (@state::text IS NULL OR ${SHOWN_STATE} = @state)
          AND (@event::text IS NULL OR d.event = @event) AS matches
      FROM (
        SELECT * FROM deliveries d WHERE d.webhook_id = @webhookId AND ${within('d.id', span)}
          ${stored === undefined ? '' : `AND ${stored}`} ${isSorted ? 'OFFSET 0' : ''}
      ) d LEFT JOIN webhooks w ON w.id = d.webhook_id
      WHERE (@after::uuid IS NULL OR d.id < @after)
        AND (@since::timestamptz IS NULL OR (d.created_at >= @since AND d.id >= least_uuid(@since)))
        AND (@until::timestamptz IS NULL
          OR (d.created_at < @until AND d.id < least_uuid(@until + interval '1 ms')))
      ORDER BY d.id DESC LIMIT ${LOOKED_AT}
    ) AS looked_at
    WHERE matches OR place = ${LOOKED_AT} ORDER BY id DESC LIMIT @limit
  )`,
    'd.place, d.matches,',
  )}
  ORDER BY d.id DESC`);
}

/** Whether anything is ever shown in that state. */
export function isDeliveryState(text: string): text is DeliveryState {
  return Object.hasOwn(STORED_AS, text);
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
