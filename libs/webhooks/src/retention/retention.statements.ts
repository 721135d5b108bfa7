import { type NoValues, prepared, statement } from '#libs/runtime';
import { countLosses } from '../statistics/delivery-results.js';

/**
 * Begins every statement that removes data, so that only one worker at a time does. The lock lasts only
 * for the statement, so it works with PgBouncer, and a frozen worker cannot keep it. The number is
 * arbitrary but the same in every version. The table tells the installations in one database apart.
 */
const ALONE = `WITH alone AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(7770002, 'events'::regclass::integer) AS mine
)`;

/** The only row of such a statement. */
export interface RemovalRow {
  /** False if another worker has the lock, so nothing was done. */
  mine: boolean;
}

/** The comment that detach_partition() sets. A table that an operator detached to keep it has none. */
const MARK = 'what is older than it is kept';

/** A partition of one day. */
export interface PartitionRow {
  parent: 'events' | 'deliveries' | 'attempts';
  name: string;
  /** YYYYMMDD, in UTC. */
  day: string;
  /** Lower bounds of this day's and the next day's ids; with both, a statement reads only this partition. */
  firstId: string;
  endId: string;
}

/** The days since which data is kept: `RETENTION_DAYS` of the last `migrate` (schema/functions.ts). */
const DAYS = 'retention_days()';

/** Deletes rows that are older than some days. @returns as many rows as were deleted */
function forgetting(table: string, at: string, days = DAYS) {
  return statement<{ limit: number }>(`
DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${table} WHERE ${at} < now() - ${days} * interval '24 hours'
  ORDER BY ${at} LIMIT @limit::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1`);
}

/** Those that have ended. */
export const FORGET_REPLAYS = forgetting('replays', 'completed_at');
export const FORGET_RECOVERIES = forgetting('recoveries', 'visited_at');
export const FORGET_ERASURES = forgetting('erasures', 'completed_at');
export const FORGET_COUNTS = forgetting('attempt_counts', 'at');
export const FORGET_LOADS = forgetting('account_loads', 'at');
/** Health looks back for a day. */
export const FORGET_LOSSES = forgetting('webhook_losses', 'at', '2');

/** Deletes subscriptions that were deleted before the oldest kept delivery was created. */
export const FORGET_WEBHOOKS = prepared<{ limit: number }, { count: number }>(
  'webhooks.forget',
  `SELECT forget_webhooks(${DAYS}, @limit::integer) AS count`,
);

/**
 * Days beyond the retention before a day's partitions are dropped: one for the day to end, and one for its deliveries
 * to expire. The database holds workers to it (schema/functions.ts).
 */
export const DAYS_BEYOND = 2;

export const KEPT_DAYS = prepared<NoValues, { days: number }>(
  'retention.days',
  `SELECT ${DAYS} AS days`,
);

/**
 * Partitions of days that began before the retention and `beyond` more days, oldest first. Within a day, deliveries go before
 * attempts, so that no attempt is recorded without a partition for it. Events go last, because
 * deliveries show data of their event.
 */
export const OLD_PARTITIONS = statement<{ beyond: number }, PartitionRow>(`
SELECT parent, name, day, least_uuid(midnight) AS "firstId",
  least_uuid(midnight + interval '24 hours') AS "endId"
FROM (
  SELECT parent.relname AS parent, part.relname AS name, right(part.relname, 8) AS day
  FROM pg_inherits i
  JOIN pg_class part ON part.oid = i.inhrelid
  JOIN pg_class parent ON parent.oid = i.inhparent
  WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
    AND NOT i.inhdetachpending AND part.relname ~ ('^' || parent.relname || '_[0-9]{8}$')
) p
CROSS JOIN LATERAL (SELECT to_date(day, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS midnight) m
WHERE day <= to_char((now() AT TIME ZONE 'UTC')::date - ${DAYS} - @beyond::integer, 'YYYYMMDD')
ORDER BY day, array_position(ARRAY['deliveries', 'attempts', 'events']::name[], parent)`);

/** Bounds of a partition's ids. */
interface Bounds {
  firstId: string;
  endId: string;
}

/**
 * Expires unfinished deliveries of a partition that are too old. Leased ones are skipped, so that their outcome can be
 * recorded.
 * @returns how many
 */
export const EXPIRE = statement<Bounds & { limit: number }, RemovalRow & { count: number }>(`
${ALONE},
old AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE (SELECT mine FROM alone) AND id >= @firstId::uuid AND id < @endId::uuid
    AND state = 'pending' AND id < least_uuid(now() - ${DAYS} * interval '24 hours')
    AND (claimed_until IS NULL OR claimed_until <= now())
  -- The order of the index on pending rows.
  ORDER BY webhook_id, next_attempt_at LIMIT @limit::integer
  FOR UPDATE SKIP LOCKED
),
expired AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', completed_at = now(), claimed_until = NULL
  FROM old WHERE d.id = old.id AND d.id >= @firstId::uuid AND d.id < @endId::uuid
  RETURNING d.webhook_id, d.reason
),
lost AS (${countLosses('expired')}
)
SELECT mine, (SELECT count(*)::integer FROM expired) AS count FROM alone`);

/** Whether a partition has pending deliveries. ORDER BY makes it use the index; EXISTS would not. */
export const FIND_PENDING = statement<Bounds, { id: string }>(`
SELECT id FROM deliveries WHERE id >= @firstId::uuid AND id < @endId::uuid AND state = 'pending'
ORDER BY webhook_id, next_attempt_at LIMIT 1`);

/**
 * Deletes the keys of events, in order of event ids. A key that now belongs to another event stays.
 * @returns the last event, or null if there was none
 */
export const FREE_KEYS = statement<
  { after: string; endId: string; limit: number },
  RemovalRow & { last: string | null }
>(`
${ALONE},
page AS MATERIALIZED (
  SELECT id, account_id, event, producer_id FROM events
  WHERE (SELECT mine FROM alone) AND id > @after::uuid AND id < @endId::uuid
  ORDER BY id LIMIT @limit::integer
),
freed AS (
  DELETE FROM event_keys k USING page p
  WHERE k.producer_id = p.producer_id AND k.account_id = p.account_id AND k.event = p.event
    AND k.event_id = p.id
)
SELECT mine, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last FROM alone`);

/** Detaches a partition. Does nothing if another worker was faster. */
export const DETACH = statement<{ name: string }, RemovalRow>(`${ALONE}
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT detach_partition(@name)::text AS done
  FROM pg_inherits WHERE mine AND inhrelid = to_regclass(quote_ident(@name))
) d ON true`);

/** Detached partitions that are to be dropped. */
export const DETACHED = statement<NoValues, { name: string }>(`
SELECT relname AS name FROM pg_class
WHERE relkind = 'r' AND NOT relispartition
  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
  AND obj_description(oid, 'pg_class') = '${MARK}'
ORDER BY relname`);

/** Drops a table, unless another worker was faster. */
export const DROP = statement<{ name: string }, RemovalRow>(`${ALONE}
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT drop_partition(@name)::text AS done
  WHERE mine AND to_regclass(quote_ident(@name)) IS NOT NULL
) d ON true`);
