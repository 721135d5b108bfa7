import {
  EVERY_ACCOUNT,
  type Found,
  MAX_SCANNED_ROWS,
  type Page,
  type ScannedRow,
  scanPage,
  type Scope,
  timeOfId,
} from '#libs/kernel';
import { type Run, statement } from '#libs/runtime';
import type { Delivery, DeliveryFilter, DeliveryState } from '../domain/delivery.js';
import { hasResult } from '../attempts.statements.js';
import { eventIdsOf } from '../listed-events.js';
import {
  boundsOf,
  CONTAINS,
  isFound,
  isLastOf,
  ownedRows,
  withinBytes,
} from '../../partitions/row-lookups.js';
import {
  daysAtOnce,
  daysListed,
  dayOf,
  firstDayOf,
  newestFirst,
  type Span,
  within,
} from '../../partitions/partition-days.js';
import {
  deliveryOf,
  type DeliveryRow,
  deliveryWithNotification,
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

/** Whether few enough rows have to be sorted for a page of deliveries in one of the states that are {@link SORTED}. */
export function areFew(state: DeliveryState, span: Span) {
  const counts = SORTED[state]?.map(
    (condition) => `(SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = @webhookId AND ${condition} AND ${within('id', span)}
  LIMIT ${MAX_SCANNED_ROWS + 1}
) counted)`,
  );
  return statement<{ webhookId: string }, { few: boolean }>(
    `SELECT ${counts!.join(' + ')} <= ${MAX_SCANNED_ROWS} AS few`,
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

/** A page reads nothing of a subscription that is another account's. */
const IS_OWN = `(@webhookId::bigint IS NULL OR @accountId::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = @webhookId AND account_id = @accountId
        ))`;

/**
 * Not prepared, because a generic plan would sort all deliveries, and would look up the last attempt and the
 * event of each one even if no filter needs them.
 * @param state the state to find by the index of a subscription; undefined to read all deliveries in order
 * @param owner the account whose deliveries are read; undefined for all accounts
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

/** How many days {@link listDeliveries} may cover. */
export const DAYS_LISTED = daysAtOnce('deliveries', 'events', 'attempts', 'attempts');

/** What one statement of a list looks at. */
interface ListPart {
  span: Span;
  after: string | undefined;
  since: Date | undefined;
  eventIds?: string[];
}

/** How many events with the same key, of several accounts, a page looks at. */
const MAX_PARTS = 50;

/**
 * The places of the deliveries of events, by the least ids there: the ids of an event's deliveries begin like its own, as do
 * those of other events that were accepted with it.
 * @param ids newest first
 */
function partsOfEvents(ids: readonly string[], after: string | undefined, since?: Date) {
  const parts = new Map<string, ListPart & { eventIds: string[] }>();
  for (const id of ids) {
    const { least, greatest } = boundsOf(id);
    if (after !== undefined && after <= least) continue;
    const made = timeOfId(id);
    const known = parts.get(least);
    if (known) known.eventIds.push(id);
    else
      parts.set(least, {
        span: { first: dayOf(id), last: dayOf(id) },
        after: after !== undefined && after < greatest ? after : greatest,
        since: since && since > made ? since : made,
        eventIds: [id],
      });
  }
  return parts;
}

/** Newest first. */
export async function findPage(
  run: Run,
  scope: Scope,
  filter: DeliveryFilter,
  { after, limit: most }: Page,
): Promise<Found<Delivery>> {
  const { webhook, applicationId, contains, state, event, status, since, until } = filter;
  const { withNotification: notifications = false } = filter;
  if (state !== undefined && !isDeliveryState(state)) return { rows: [] };
  const values = { accountId: scope, webhookId: webhook?.id, applicationId, event, status };
  const owner = webhook ? 'webhook' : scope === EVERY_ACCOUNT ? undefined : 'account';
  const searches = contains !== undefined;
  const scan = async (part: ListPart, limit: number) => {
    const { span } = part;
    let indexed = webhook && state;
    if (indexed && SORTED[indexed]) {
      const [row] = await run(areFew(indexed, span), { webhookId: webhook!.id });
      if (row?.few !== true) indexed = undefined;
    }
    return run(listDeliveries(indexed, span, owner, { searches, notifications }), {
      ...values,
      ...{ state, limit, after: part.after, eventIds: part.eventIds },
      since: part.since?.toISOString(),
      until: until?.toISOString(),
      ...(searches && { contains }),
    });
  };
  const shownAs = notifications ? deliveryWithNotification : deliveryOf;
  const ids = await eventIdsOf(run, scope, filter);
  if (!ids) {
    const { first, last } = daysListed(filter, after);
    const spans = newestFirst(run, 'deliveries', DAYS_LISTED, {
      first: Math.max(first, webhook?.createdAt ? firstDayOf(webhook.createdAt) : 0),
      last,
    });
    const found = await scanPage(most, spans, (span, limit) => scan({ span, after, since }, limit));
    return { ...found, rows: found.rows.map(shownAs) };
  }
  const parts = [...partsOfEvents(ids, after, since)];
  const some = parts.slice(0, MAX_PARTS);
  const found = await scanPage(most, some, ([, part], limit) => scan(part, limit));
  const isCut = some.length < parts.length && found.rows.length < most;
  const [end] = some.at(-1) ?? [];
  return {
    ...(isCut && end !== undefined && { stoppedAt: end }),
    ...found,
    rows: found.rows.map(shownAs),
  };
}

/** Whether the text is a state that deliveries are shown in. */
function isDeliveryState(text: string): text is DeliveryState {
  return Object.hasOwn(STORED_AS, text);
}
