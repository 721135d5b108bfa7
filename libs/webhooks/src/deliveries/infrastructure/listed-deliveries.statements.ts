import { MAX_SCANNED_ROWS, type ScannedRow, type Scope } from '#libs/kernel';
import { prepared, statement } from '#libs/runtime';
import type { DeliveryState } from '../domain/delivery.js';
import { hasResult } from '../attempts.statements.js';
import {
  CONTAINS,
  isFound,
  isLastOf,
  ownedRows,
  withinBytes,
} from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import {
  type DeliveryRow,
  NOTIFICATION,
  type NotificationColumns,
  shown,
  SHOWN_STATE,
  withSubscription,
} from './shown-delivery.statements.js';

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
  accountId: Scope;
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
export const EVENTS_OF_KEY = prepared<{ producerId: string; accountId: Scope }, { id: string }>(
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
      ) d ${withSubscription('AND @state::text IS NOT NULL')}
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
    span,
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
