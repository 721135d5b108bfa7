import { type JudgedRow, MAX_JUDGED_ROWS, MAX_SCANNED_ROWS, type Scope } from '#libs/kernel';
import { type RowOf, statement } from '#libs/runtime';
import { IS_COVERED, untold } from '../../deliveries/missed-events.statements.js';
import {
  CONTAINS,
  isFound,
  isLastOf,
  numberOf,
  ownedRows,
  withinBytes,
} from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import type { EventHead, StoredEvent } from '../domain/event.js';

export const HEAD = `id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt"`;

/** The names of {@link HEAD}. */
export const NAMES = `id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt"`;

const FIND = `
SELECT ${HEAD}, data, added
FROM events WHERE id = @id AND (@accountId::bigint IS NULL OR account_id = @accountId)`;

interface SoughtEvent {
  id: string;
  accountId: Scope;
}

// Not prepared, because a cached plan opens the partitions of all days.
export const FIND_EVENT = statement<SoughtEvent, RowOf<StoredEvent>>(FIND);
export const LOCK_EVENT = statement<SoughtEvent, RowOf<StoredEvent>>(`${FIND} FOR NO KEY UPDATE`);

/** How many days {@link listEvents} may cover. */
export const EVENT_DAYS_LISTED = daysAtOnce('events');

interface EventsPage {
  accountId: Scope;
  after: string | undefined;
  limit: number;
  event: string | undefined;
  resource: string | undefined;
  applicationId: string | undefined;
  unmatched: boolean | undefined;
  since: string | undefined;
  until: string | undefined;
  /** Limits the list to these events; undefined for no limit. */
  ids: string[] | undefined;
  /** If the list {@link EventsListed.searches}. */
  contains?: string;
  /** If the list is of {@link EventsListed.covered} events: the resources. */
  resources?: string;
  /** If the events are those that a subscription has {@link EventsListed.missed}: its id. */
  missedBy?: string;
}

/** What kind of list {@link listEvents} makes. */
interface EventsListed {
  /** Whether they are the events of an account, and not of everybody. */
  isOwned: boolean;
  /** Whether only unmatched events are read, which an account has an index of. */
  byIndex: boolean;
  /** Whether the events' data are searched for a text. */
  searches?: boolean;
  /** Whether only events about some resources are listed. */
  covered?: boolean;
  /** Whether only events are listed that a subscription did not get. */
  missed?: boolean;
  /** Whether the events' data are read. */
  data?: boolean;
}

/**
 * Omits tests, which are not events of the platform. Not prepared, because a generic plan sorts all events
 * of the account.
 */
export function listEvents(span: Span, list: EventsListed) {
  const { isOwned, byIndex, searches = false, covered = false } = list;
  const { missed = false, data = false } = list;
  const readsData = searches || data;
  const owned = isOwned ? ownedRows('account_id', '@accountId') : undefined;
  const order = owned?.order ?? 'id DESC';
  const orderOfNames = isOwned ? '"accountId" DESC, id DESC' : order;
  const withoutData = missed ? numberOf(order) : isLastOf(order);
  const rest = readsData ? 'data' : withoutData;
  const rows = `SELECT ${HEAD}, ${rest},
    NOT test
      AND (@event::text IS NULL OR event = @event)
      AND (@resource::text IS NULL OR resource = @resource)
      AND coalesce(@applicationId::bigint IS NULL OR application_id = @applicationId, false)
      AND (@unmatched::boolean IS NULL OR unmatched = @unmatched)${covered ? ` AND ${IS_COVERED}` : ''}${missed ? ' AND erased_at IS NULL' : ''}
      AS selected
  FROM events
  WHERE ${within('id', span)}
    AND ${owned?.condition ?? '@accountId::bigint IS NULL'} ${byIndex ? 'AND unmatched' : ''}
    AND (@after::uuid IS NULL OR id < @after)
    AND (@since::timestamptz IS NULL OR (created_at >= @since AND id >= least_uuid(@since)))
    AND (@until::timestamptz IS NULL
      OR (created_at < @until AND id < least_uuid(@until + interval '1 ms')))
    AND (@ids::uuid[] IS NULL OR id = ANY (@ids))
  ORDER BY ${order} LIMIT ${missed ? MAX_JUDGED_ROWS : MAX_SCANNED_ROWS}`;
  const read = readsData ? withinBytes(rows, orderOfNames, { returns: data }) : rows;
  const found = isFound(searches ? [CONTAINS] : [], { isRead: readsData });
  return statement<EventsPage, RowOf<EventHead> & JudgedRow>(`
WITH scanned AS (
  ${missed ? rows : read}
)
SELECT ${NAMES}, ${data ? 'data' : 'NULL AS data'}, ${missed ? 'number' : 'NULL::integer AS number'}, "isLast", matches
FROM (
  SELECT *, ${found} AS matches
  FROM ${missed ? `(${untold(span, NAMES, orderOfNames, readsData)}) AS candidates` : 'scanned'}
) AS found
WHERE matches OR "isLast"
ORDER BY ${orderOfNames} LIMIT @limit`);
}
