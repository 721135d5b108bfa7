import { MAX_SCANNED_ROWS, type ScannedRow } from '#libs/kernel';
import { prepared, type RowOf, statement, withoutNulls } from '#libs/runtime';
import type { AttemptError, Delivery, DeliveryState, LastAttempt } from '../domain/delivery.js';
import { shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import { notificationBody } from '../domain/notification-body.js';
import { hasResult } from './attempts.statements.js';
import {
  CONTAINS,
  isFound,
  isLastOf,
  ownedRows,
  withinBytes,
} from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import { IS_BLOCKED, OFF_REASON } from '../../subscriptions/infrastructure/webhook-flow.js';

/** A lookup for each delivery: with a plain join, the planner would read all subscriptions. */
const WITH_SUBSCRIPTION =
  'LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true';

/** Whether the subscription of a pending delivery was switched off or deleted after its creation. */
const IS_OUTDATED = 'w.generation IS NULL OR d.generation < w.generation';

/**
 * The shown state. A pending delivery counts as cancelled as soon as its subscription is switched off,
 * even before its row is updated, and as parked while its subscription is blocked.
 */
const SHOWN_STATE = `CASE
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
export const IS_LEASED = `coalesce(d.claimed_until > now(), false)`;

/** Bounds of ids: those of a delivery do not prune the partitions of other tables. */
interface Bounds {
  /** Of the event's id `e.id`. */
  ofEvent: string;
  /** Of the attempts' `delivery_id`. */
  ofAttempts: string;
}

/** A delivery as {@link shown} selects it. */
export type DeliveryRow = RowOf<Omit<Delivery, 'lastAttempt' | 'notification'>> & {
  lastAt: Date | null;
  lastDurationMs: number | null;
  lastStatus: number | null;
  lastError: AttemptError | null;
};

/** What the notification has besides the columns of {@link DeliveryRow}. */
interface NotificationColumns {
  accountId: string;
  occurredAt: Date | null;
  data: string | null;
  name: string | null;
  payload: string | null;
}

const NOTIFICATION = `d.account_id AS "accountId", e.occurred_at AS "occurredAt", e.data, w.name, w.payload,`;

/** Bounds for the deliveries of a span. */
export const boundsOfSpan = (span: Span): Bounds => ({
  ofEvent: within('e.id', span),
  ofAttempts: within('delivery_id', span),
});

/**
 * @param from the source of deliveries
 * @param columns further columns of `from` to select
 */
export function shown({ ofEvent, ofAttempts }: Bounds, from = 'deliveries', columns = ''): string {
  return `
  SELECT ${columns} d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    ${SHOWN_STATE} AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError",
    CASE WHEN d.state <> 'pending' OR ${IS_OUTDATED} OR ${IS_LEASED} THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    d.created_at AS "createdAt", ${END}, coalesce(e.test, false) AS test
  FROM ${from} d
  ${WITH_SUBSCRIPTION}
  LEFT JOIN events e ON e.id = d.event_id AND ${ofEvent}
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error FROM attempts
    WHERE delivery_id = d.id AND ${ofAttempts} ORDER BY take DESC LIMIT 1
  ) last ON true`;
}

// Statements that find a delivery by its id are not prepared, so that PostgreSQL plans for that id and opens
// only its partition. A cached plan opens all partitions (docs/decisions).

/** Bounds of all ids created by the same statement: events and their deliveries. */
export interface MadeTogether {
  least: string;
  greatest: string;
}

/**
 * A page of an event's deliveries, newest first. Other events of the same statement have ids in the same range,
 * so this looks at a limited number of rows.
 */
export const DELIVERIES_OF_EVENT = statement<
  MadeTogether & { eventId: string; after: string | undefined; limit: number },
  DeliveryRow & ScannedRow
>(`${shown(
  {
    ofEvent: 'e.id = @eventId',
    ofAttempts: 'delivery_id BETWEEN @least::uuid AND @greatest::uuid',
  },
  `(
    SELECT * FROM (
      SELECT *, ${isLastOf('id DESC')}, event_id = @eventId AS matches
      FROM deliveries
      WHERE id BETWEEN @least::uuid AND @greatest::uuid AND (@after::uuid IS NULL OR id < @after)
      ORDER BY id DESC LIMIT ${MAX_SCANNED_ROWS}
    ) AS scanned
    WHERE matches OR "isLast" ORDER BY id DESC LIMIT @limit
  )`,
  'd."isLast", d.matches,',
)}
  ORDER BY d.id DESC`);

export const FIND_DELIVERY = statement<
  MadeTogether & { id: string; accountId: string | undefined },
  DeliveryRow
>(`${shown({ ofEvent: 'e.id BETWEEN @least::uuid AND @greatest::uuid', ofAttempts: 'delivery_id = @id' })}
  WHERE d.id = @id AND (@accountId::bigint IS NULL OR d.account_id = @accountId)`);

/** Rows that an index has in the order of the list, so that each one read counts. */
const UNSUCCESSFUL = `d.state IN ('exhausted', 'cancelled')`;

/** Conditions that let an index find the deliveries shown in a state. */
const STORED_AS: Record<DeliveryState, string | undefined> = {
  pending: `d.state = 'pending'`,
  parked: `d.state = 'pending'`,
  succeeded: undefined,
  exhausted: UNSUCCESSFUL,
  cancelled: `(d.state = 'cancelled' OR d.state = 'pending')`,
};

/** Contents of these indexes if they have to be sorted, because a list has another order. */
const SORTED: Partial<Record<DeliveryState, string[]>> = {
  pending: [`state = 'pending'`],
  parked: [`state = 'pending'`],
  cancelled: [`state = 'pending'`, `state IN ('exhausted', 'cancelled')`],
};

/** How many days {@link listDeliveries} may cover. */
export const DAYS_LISTED = daysAtOnce('deliveries', 'events', 'attempts', 'attempts');

/** Whether few enough rows have to be sorted for a page; undefined if no sorting is needed. */
export function areFew(state: DeliveryState, span: Span) {
  const counts = SORTED[state]?.map(
    (condition) => `(SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = @webhookId AND ${condition} AND ${within('id', span)}
  LIMIT ${MAX_SCANNED_ROWS + 1}
) counted)`,
  );
  if (!counts) return undefined;
  return statement<{ webhookId: string }, { few: boolean }>(
    `SELECT ${counts.join(' + ')} <= ${MAX_SCANNED_ROWS} AS few`,
  );
}

interface DeliveriesPage {
  accountId: string | undefined;
  webhookId: string | undefined;
  applicationId: string | undefined;
  after: string | undefined;
  limit: number;
  state: DeliveryState | undefined;
  event: string | undefined;
  status: string | undefined;
  since: string | undefined;
  until: string | undefined;
  /** Limits the list to deliveries of these events; undefined for no limit. */
  eventIds: string[] | undefined;
  /** If the events' data are searched. */
  contains?: string;
}

/** The events with a producer's key, newest first. */
export const EVENTS_OF_KEY = prepared<
  { producerId: string; accountId: string | undefined },
  { id: string }
>(
  'events.of-key',
  `
SELECT event_id AS id FROM event_keys
WHERE producer_id = @producerId AND (@accountId::bigint IS NULL OR account_id = @accountId)
ORDER BY event_id DESC`,
);

/** A page reads nothing of a subscription that is another account's. */
const IS_OWN = `(@webhookId::bigint IS NULL OR @accountId::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = @webhookId AND account_id = @accountId
        ))`;

/**
 * Not prepared, because a generic plan would sort all deliveries, and would look up the last attempt and the
 * event of each one even if no filter needs them.
 * @param state the state to find by the index of a subscription; undefined to read all deliveries in order
 * @param owner whose deliveries; undefined for those of everybody
 * @param list `searches`: whether the data of their events are searched for a text; `notifications`: whether what
 *   their notifications consist of is read
 */
export function listDeliveries(
  state: DeliveryState | undefined,
  span: Span,
  owner: 'webhook' | 'account' | undefined,
  list: { searches?: boolean; notifications?: boolean } = {},
) {
  const { searches = false, notifications = false } = list;
  const readsData = searches || notifications;
  const stored = state && STORED_AS[state];
  // OFFSET 0 keeps the planner from choosing the list's order, which reads rows of all other states.
  const isSorted = state !== undefined && SORTED[state] !== undefined;
  const inOrder = owner && !isSorted ? ownedRows(`${owner}_id`, `@${owner}Id`, 'd.') : undefined;
  const order = inOrder?.order ?? 'd.id DESC';
  const conditions = [
    within('d.id', span),
    ...(isSorted ? ['d.webhook_id = @webhookId'] : []),
    ...(inOrder ? [inOrder.condition] : []),
    IS_OWN,
    ...(stored === undefined ? [] : [stored]),
  ];
  const rows = `SELECT d.*, ${readsData ? 'e.data' : isLastOf(order)},
        (@state::text IS NULL OR ${SHOWN_STATE} = @state)
          AND (@event::text IS NULL OR d.event = @event)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND (@applicationId::bigint IS NULL OR coalesce((
            SELECT e.application_id = @applicationId FROM events e
            WHERE e.id = d.event_id AND ${within('e.id', span)}
          ), false))
          AND (@eventIds::uuid[] IS NULL OR d.event_id = ANY (@eventIds))
          AND ${hasResult('d.id', span)} AS selected
      FROM (
        SELECT * FROM deliveries d WHERE ${conditions.join('\n          AND ')} ${isSorted ? 'OFFSET 0' : ''}
      ) d ${WITH_SUBSCRIPTION}
      ${readsData ? `LEFT JOIN LATERAL (SELECT data FROM events WHERE id = d.event_id AND ${within('id', span)} LIMIT 1) e ON true` : ''}
      WHERE (@after::uuid IS NULL OR d.id < @after)
        AND (@since::timestamptz IS NULL OR (d.created_at >= @since AND d.id >= least_uuid(@since)))
        AND (@until::timestamptz IS NULL
          OR (d.created_at < @until AND d.id < least_uuid(@until + interval '1 ms')))
      ORDER BY ${order} LIMIT ${MAX_SCANNED_ROWS}`;
  const found = isFound(searches ? [CONTAINS] : [], { isRead: readsData });
  return statement<
    DeliveriesPage,
    DeliveryRow & Partial<NotificationColumns> & ScannedRow
  >(`${shown(
    boundsOfSpan(span),
    `(
    SELECT * FROM (
      SELECT *, ${found} AS matches FROM (
      ${readsData ? withinBytes(rows, order, { returns: notifications }) : rows}
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY ${order} LIMIT @limit
  )`,
    `${notifications ? NOTIFICATION : ''} d."isLast", d.matches,`,
  )}
  ORDER BY d.id DESC`);
}

/** Whether the text is a state that deliveries are shown in. */
export function isDeliveryState(text: string): text is DeliveryState {
  return Object.hasOwn(STORED_AS, text);
}

/** A delivery with its notification, which it does not have if its event is gone. */
export function deliveryWithNotification(
  row: DeliveryRow & Partial<NotificationColumns>,
): Delivery {
  const { accountId, occurredAt, data, name, payload, ...others } = row;
  const delivery = deliveryOf(others);
  if (accountId === undefined || !occurredAt || typeof data !== 'string') return delivery;
  const { id, event, resource, applicationId, test } = delivery;
  const notification = notificationBody({
    ...{ id, event, resource, accountId, occurredAt, test, data },
    ...(applicationId !== undefined && { applicationId }),
    ...(typeof name === 'string' && { name }),
    ...(typeof payload === 'string' && { payload }),
  });
  return { ...delivery, notification };
}

export function deliveryOf(row: DeliveryRow): Delivery {
  const { lastAt, lastDurationMs, lastStatus, lastError, ...others } = row;
  return {
    ...withoutNulls<Omit<Delivery, 'lastAttempt' | 'notification'>>(others),
    targetUrl: shownTargetUrl(row.targetUrl),
    ...(lastAt && {
      lastAttempt: withoutNulls<LastAttempt>({
        at: lastAt,
        durationMs: lastDurationMs!,
        status: lastStatus,
        error: lastError,
      }),
    }),
  };
}
