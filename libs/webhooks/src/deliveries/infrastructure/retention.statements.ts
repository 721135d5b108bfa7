import { type NoValues, prepared, statement } from '#libs/runtime';

/**
 * What every statement that removes something begins with: one worker at a time does. The lock lasts
 * for the statement alone, so neither PgBouncer nor a worker that freezes between two statements
 * matters. Any number, the same in every version.
 */
const ALONE = `WITH alone AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(7770002) AS mine)`;

/** The one row of such a statement. */
export interface RemovalRow {
  /** Otherwise another worker has the lock, and nothing was done. */
  mine: boolean;
}

/** What detach_partition() says of a table: one that an operator detached to keep it has no such word. */
const MARK = 'what is older than it is kept';

/** A partition of one day. */
export interface PartitionRow {
  parent: 'events' | 'deliveries' | 'attempts';
  name: string;
  /** YYYYMMDD, in UTC. */
  day: string;
  /** Of its ids the least, and the least of the next day: with both, a statement reads it alone. */
  first_id: string;
  end_id: string;
}

/** Subscriptions that were deleted before all deliveries that are kept. */
export const FORGET_WEBHOOKS = prepared<{ days: number; limit: number }, { count: number }>(
  'webhooks.forget',
  'SELECT forget_webhooks(@days::integer, @limit::integer) AS count',
);

const PARTITIONS = `
FROM pg_inherits i
JOIN pg_class part ON part.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)`;

/** For how many days data is kept: more than configured where migrate was told more, which alone could be removed. */
export const KEPT_DAYS = prepared<{ configured: number }, { days: number }>(
  'retention.days',
  'SELECT greatest(@configured::integer, retention_days()) AS days',
);

/**
 * The partitions of days that began so many days ago or earlier, the oldest first. Of a day that of the
 * deliveries goes before that of the attempts, so that no attempt is recorded of a delivery whose
 * attempts have no partition; the events go last, since deliveries show what their event was.
 */
export const OLD_PARTITIONS = statement<{ days: number }, PartitionRow>(`
SELECT parent, name, day, least_uuid(midnight) AS first_id,
  least_uuid(midnight + interval '24 hours') AS end_id
FROM (
  SELECT parent.relname AS parent, part.relname AS name, right(part.relname, 8) AS day ${PARTITIONS}
    AND NOT i.inhdetachpending AND part.relname ~ ('^' || parent.relname || '_[0-9]{8}$')
) p
CROSS JOIN LATERAL (SELECT to_date(day, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS midnight) m
WHERE day <= to_char((now() AT TIME ZONE 'UTC')::date - @days::integer, 'YYYYMMDD')
ORDER BY day, array_position(ARRAY['deliveries', 'attempts', 'events']::name[], parent)`);

/** Those whose detaching was interrupted. */
export const HALF_DETACHED = statement<NoValues, { name: string }>(
  `SELECT part.relname AS name ${PARTITIONS} AND i.inhdetachpending`,
);

/** The bounds of the ids of a partition. */
interface Bounds {
  firstId: string;
  endId: string;
}

/**
 * Ends deliveries of a partition that are older than so many days and not finished. What a worker or the
 * queue has is left its time to be recorded.
 * @returns how many
 */
export const EXPIRE = statement<
  Bounds & { days: number; limit: number },
  RemovalRow & { count: number }
>(`
${ALONE},
old AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE (SELECT mine FROM alone) AND id >= @firstId::uuid AND id < @endId::uuid
    AND state = 'pending' AND id < least_uuid(now() - @days::integer * interval '24 hours')
    AND (claimed_until IS NULL OR claimed_until <= now())
  -- The order of the index on what is pending.
  ORDER BY webhook_id, next_attempt_at LIMIT @limit::integer
  FOR UPDATE SKIP LOCKED
),
expired AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', completed_at = now(), claimed_until = NULL
  FROM old WHERE d.id = old.id AND d.id >= @firstId::uuid AND d.id < @endId::uuid
  RETURNING d.id
)
SELECT mine, (SELECT count(*)::integer FROM expired) AS count FROM alone`);

/** Whether anything of a partition waits. In the order of the index, which EXISTS would not use. */
export const FIND_PENDING = statement<Bounds, { id: string }>(`
SELECT id FROM deliveries WHERE id >= @firstId::uuid AND id < @endId::uuid AND state = 'pending'
ORDER BY webhook_id, next_attempt_at LIMIT 1`);

/**
 * Sets the keys of events free, in the order of their ids. A key that was free and is another event's by
 * now is left to that.
 * @returns the last event, null when there was none
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

/**
 * Takes a partition out of its table, or ends such a detaching that was interrupted; does nothing
 * where another worker was faster.
 */
export const DETACH = statement<{ name: string }, RemovalRow>(`${ALONE}
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT detach_partition(@name)::text AS done
  FROM pg_inherits WHERE mine AND inhrelid = to_regclass(quote_ident(@name))
) d ON true`);

/** What is detached and to be dropped. */
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
