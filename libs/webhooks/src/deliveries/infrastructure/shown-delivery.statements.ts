import { DETAIL } from '../attempts.statements.js';
import type { Scope } from '#libs/kernel';
import { ALL_WORKERS_HOLD, type RowOf, statement, withoutNulls } from '#libs/runtime';
import type { AttemptDetail, AttemptError, Delivery, LastAttempt } from '../domain/delivery.js';
import { shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import { notificationBody } from '../domain/notification-body.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import { IS_BLOCKED, OFF_REASON } from '../../subscriptions/webhook-flow.js';

/**
 * A lookup for each delivery: with a plain join, the planner would read all subscriptions.
 * @param condition while it does not hold, nothing is looked up
 */
export const withSubscription = (condition = ''): string =>
  `LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id ${condition} LIMIT 1) w ON true`;

/** Whether the subscription of a pending delivery was disabled or deleted after its creation. */
const IS_OUTDATED = 'w.generation IS NULL OR d.generation < w.generation';

/**
 * The shown state. A pending delivery counts as cancelled as soon as its subscription is disabled,
 * even before its row is updated, and as parked while its subscription is blocked.
 */
export const SHOWN_STATE = `CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN ${IS_OUTDATED} THEN 'cancelled'
    WHEN ${IS_BLOCKED} AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END`;

/** The shown end of a delivery. One that counts as cancelled is complete before its row is updated. */
const END = `CASE WHEN d.state = 'pending' AND (${IS_OUTDATED}) THEN ${OFF_REASON} ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (${IS_OUTDATED})
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt"`;

/** Whether a worker or the queue has leased the delivery, so that no other may send it. */
export const IS_LEASED = `(d.claimed_until IS NOT NULL AND d.claimed_until > now())`;

/** A delivery as {@link shown} selects it. */
export type DeliveryRow = RowOf<Omit<Delivery, 'lastAttempt' | 'notification'>> & {
  lastAt: Date | null;
  lastDurationMs: number | null;
  lastStatus: number | null;
  lastError: AttemptError | null;
  lastDetail: AttemptDetail | null;
};

/** Parts of the notification that are not in the columns of {@link DeliveryRow}. */
export interface NotificationColumns {
  accountId: string;
  occurredAt: Date | null;
  data: string | null;
  name: string | null;
  payload: string | null;
}

export const NOTIFICATION = `d.account_id AS "accountId", e.occurred_at AS "occurredAt", e.data, w.name, w.payload,`;

/**
 * @param span the days of the deliveries: their bounds do not prune the partitions of other tables
 * @param from the source of deliveries
 * @param columns further columns of `from` to select
 */
export function shown(span: Span, from: string, columns = ''): string {
  return `
  SELECT ${columns} d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    ${SHOWN_STATE} AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR ${IS_OUTDATED} OR ${IS_LEASED} THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN ${SHOWN_STATE} = 'pending' AND NOT ${IS_LEASED} AND d.next_attempt_at <= now()
      AND ${ALL_WORKERS_HOLD} THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", ${END}, e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM ${from} d
  ${withSubscription()}
  LEFT JOIN events e ON e.id = d.event_id AND ${within('e.id', span)}
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN ${DETAIL} END AS detail FROM attempts
    WHERE delivery_id = d.id AND ${within('delivery_id', span)} ORDER BY take DESC LIMIT 1
  ) last ON true`;
}

/** How many days {@link findDeliveries} may cover. */
export const DAYS_FOUND = daysAtOnce('deliveries', 'events', 'attempts');

interface Wanted {
  accountId: Scope;
  /** Deliveries. */
  ids: string[];
  /** Events, and the bounds of the ids of what was created with each. */
  eventIds: string[];
  least: string[];
  greatest: string[];
}

/** Deliveries by their ids and by their events. Not prepared, so that it opens the span's partitions only. */
export function findDeliveries(span: Span) {
  const isWanted = `${within('d.id', span)} AND (@accountId::bigint IS NULL OR d.account_id = @accountId)`;
  return statement<Wanted, DeliveryRow>(`${shown(
    span,
    `(
    SELECT * FROM deliveries d WHERE d.id = ANY (@ids::uuid[]) AND ${isWanted}
    UNION
    SELECT d.* FROM unnest(@eventIds::uuid[], @least::uuid[], @greatest::uuid[]) g(event_id, least, greatest)
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d
      WHERE d.id BETWEEN g.least AND g.greatest AND ${isWanted} AND d.event_id = g.event_id
      OFFSET 0
    ) d
  )`,
  )}
  ORDER BY d.id`);
}

/** A delivery with its notification, which it does not have if its event is gone. */
export function deliveryWithNotification(
  row: DeliveryRow & Partial<NotificationColumns>,
): Delivery {
  const { accountId, occurredAt, data, name = null, payload = null, ...others } = row;
  const delivery = deliveryOf(others);
  if (accountId === undefined || !occurredAt || typeof data !== 'string') return delivery;
  const content = { ...delivery, accountId, occurredAt, data, name, payload };
  return { ...delivery, notification: notificationBody(content) };
}

export function deliveryOf(row: DeliveryRow): Delivery {
  const { lastAt, lastDurationMs, lastStatus, lastError, lastDetail, ...others } = row;
  return {
    ...withoutNulls<Omit<Delivery, 'lastAttempt' | 'notification'>>(others),
    targetUrl: shownTargetUrl(row.targetUrl),
    ...(lastAt && {
      lastAttempt: withoutNulls<LastAttempt>({
        at: lastAt,
        durationMs: lastDurationMs!,
        status: lastStatus,
        error: lastError,
        detail: lastDetail,
      }),
    }),
  };
}
