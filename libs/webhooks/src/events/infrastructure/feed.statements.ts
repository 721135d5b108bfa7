import { MAX_SCANNED_ROWS, type ScannedRow, type Scope } from '#libs/kernel';
import { type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import { CONTAINS, isFound, withinBytes } from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import type { EventWithData } from '../domain/event.js';
import { EARLIEST_LOCK } from '../feed-functions.js';
import { HEAD, NAMES } from './event.statements.js';

/** Sets `feed_clock` to the present, in µs. */
export const RAISE_FEED_CLOCK = prepared<NoValues, { micros: string }>(
  'feed.raise-clock',
  'SELECT raise_feed_clock()::text AS micros',
);

/**
 * When the earliest of the transactions began that may still commit an event, in µs; NULL if there are none. A statement of
 * its own, after the clock was raised. `micros` is the clock of the server that has these locks: after a failover, not of
 * the one on which the clock was raised.
 */
export const FIND_ACCEPTING = prepared<NoValues, { micros: string; since: string | null }>(
  'feed.accepting',
  `
SELECT (extract(epoch FROM (SELECT at FROM feed_clock ORDER BY at DESC LIMIT 1)) * 1000000)::bigint::text AS micros,
  (${EARLIEST_LOCK})::text AS since`,
);

/** The first day of the events that are kept, if there is a partition. Retention removes none of this day or later. */
export const FIND_FIRST_DAY = prepared<{ today: number }, { day: number | null }>(
  'feed.first-day',
  `
SELECT min(day) AS day FROM (
  SELECT to_date(right(part.relname, 8), 'YYYYMMDD') - '1970-01-01'::date AS day
  FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid
  WHERE i.inhparent = 'events'::regclass AND NOT i.inhdetachpending AND part.relname ~ '_[0-9]{8}$'
) AS days
WHERE day >= @today::integer - retention_days()`,
);

/** How many days {@link readFeed} may cover. */
export const FEED_DAYS = daysAtOnce('events');

interface FeedPage {
  accountId: Scope;
  after: string;
  end: string;
  limit: number;
  event: string | undefined;
  resource: string | undefined;
  applicationId: string | undefined;
  producerId: string | undefined;
  /** If the feed is searched for a text. */
  contains?: string;
}

/**
 * Events between two cursors, oldest first. Of an account by pairs of account and id, for which only the index on both
 * fits (`ownedRows`). Not prepared, because the days are literals.
 */
export function readFeed(
  span: Span,
  { isOwned, searches }: { isOwned: boolean; searches: boolean },
) {
  const rows = `SELECT ${HEAD}, data,
    NOT test
      AND (@event::text IS NULL OR event = @event)
      AND (@resource::text IS NULL OR resource = @resource)
      AND coalesce(@applicationId::bigint IS NULL OR application_id = @applicationId, false)
      AND coalesce(@producerId::text IS NULL OR producer_id = @producerId, false)
      AS selected
  FROM events
  WHERE ${within('id', span)}
    AND ${isOwned ? OF_ACCOUNT : OF_EVERYBODY}
  ORDER BY ${isOwned ? 'account_id, id' : 'id'} LIMIT ${MAX_SCANNED_ROWS}`;
  const order = isOwned ? '"accountId", id' : 'id';
  return statement<FeedPage, RowOf<EventWithData> & ScannedRow>(`
WITH scanned AS (
  ${withinBytes(rows, order, { returns: true })}
)
SELECT ${NAMES}, data, "isLast", matches
FROM (
  SELECT *, ${isFound(searches ? [CONTAINS] : [], { isRead: true })} AS matches FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY ${order} LIMIT @limit`);
}

const OF_ACCOUNT = `(account_id, id) > (@accountId::bigint, @after::uuid)
    AND (account_id, id) < (@accountId::bigint, @end::uuid)`;
const OF_EVERYBODY = `@accountId::bigint IS NULL AND id > @after::uuid AND id < @end::uuid`;

interface AskedForNews {
  accountIds: Scope[];
  afters: string[];
  end: string;
}

/** Who of those that wait has events, by the position from 1. LIMIT makes each a lookup in the index. */
export function findNews(span: Span) {
  return statement<AskedForNews, { ord: number }>(`
SELECT w.ord::integer AS ord
FROM unnest(@accountIds::bigint[], @afters::uuid[]) WITH ORDINALITY AS w(account_id, after, ord)
CROSS JOIN LATERAL (
  SELECT FROM events
  WHERE ${within('id', span)}
    AND (account_id, id) > (w.account_id, w.after) AND (account_id, id) < (w.account_id, @end)
  ORDER BY account_id, id LIMIT 1
) e`);
}

/** Whether any account has events. */
export function findAnyNews(span: Span) {
  return statement<{ after: string; end: string }>(`
SELECT FROM events WHERE ${within('id', span)} AND id > @after AND id < @end ORDER BY id LIMIT 1`);
}
