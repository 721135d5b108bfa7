/**
 * What every statement that removes something begins with: one worker at a time does. The lock lasts
 * for the statement alone, so neither PgBouncer nor a worker that freezes between two statements
 * matters. Any number, the same in every version.
 */
const ALONE = `WITH alone AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(7770002) AS mine)`;

/** Its one row. */
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

/** $1 days for which deliveries are kept, $2 how many: subscriptions that were deleted before all of them. */
export const FORGET_WEBHOOKS = {
  name: 'webhooks.forget',
  text: 'SELECT forget_webhooks($1::integer, $2::integer) AS count',
};

const PARTITIONS = `
FROM pg_inherits i
JOIN pg_class part ON part.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)`;

/** For how many days data is kept: $1, unless migrate was told more, which alone could be removed. */
export const KEPT_DAYS = {
  name: 'retention.days',
  text: 'SELECT greatest($1::integer, retention_days()) AS days',
};

/**
 * The partitions of days that began $1 days ago or earlier, the oldest first. Of a day that of the
 * deliveries goes before that of the attempts, so that no attempt is recorded of a delivery whose
 * attempts have no partition; the events go last, since deliveries show what their event was.
 */
export const OLD_PARTITIONS = {
  text: `
SELECT parent, name, day, least_uuid(midnight) AS first_id,
  least_uuid(midnight + interval '24 hours') AS end_id
FROM (
  SELECT parent.relname AS parent, part.relname AS name, right(part.relname, 8) AS day ${PARTITIONS}
    AND NOT i.inhdetachpending AND part.relname ~ ('^' || parent.relname || '_[0-9]{8}$')
) p
CROSS JOIN LATERAL (SELECT to_date(day, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS midnight) m
WHERE day <= to_char((now() AT TIME ZONE 'UTC')::date - $1::integer, 'YYYYMMDD')
ORDER BY day, array_position(ARRAY['deliveries', 'attempts', 'events']::name[], parent)`,
};

/** Those whose detaching was interrupted. */
export const HALF_DETACHED = {
  text: `SELECT part.relname AS name ${PARTITIONS} AND i.inhdetachpending`,
};

/**
 * Ends up to $4 deliveries of a partition ($1, $2 the bounds of its ids) that are older than $3 days
 * and not finished. What a worker or the queue has is left its time to be recorded.
 * @returns how many
 */
export const EXPIRE = {
  text: `
${ALONE},
old AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE (SELECT mine FROM alone) AND id >= $1::uuid AND id < $2::uuid
    AND state = 'pending' AND id < least_uuid(now() - $3::integer * interval '24 hours')
    AND (claimed_until IS NULL OR claimed_until <= now())
  -- The order of the index on what is pending.
  ORDER BY webhook_id, next_attempt_at LIMIT $4::integer
  FOR UPDATE SKIP LOCKED
),
expired AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', completed_at = now(), claimed_until = NULL
  FROM old WHERE d.id = old.id AND d.id >= $1::uuid AND d.id < $2::uuid
  RETURNING d.id
)
SELECT mine, (SELECT count(*)::integer FROM expired) AS count FROM alone`,
};

/** Whether anything of a partition waits. In the order of the index, which EXISTS would not use. */
export const FIND_PENDING = {
  text: `SELECT id FROM deliveries WHERE id >= $1::uuid AND id < $2::uuid AND state = 'pending'
ORDER BY webhook_id, next_attempt_at LIMIT 1`,
};

/**
 * Sets the keys free of up to $3 events with ids after $1 and before $2. A key that was free and is
 * another event's by now is left to that.
 * @returns the last event, null when there was none
 */
export const FREE_KEYS = {
  text: `
${ALONE},
page AS MATERIALIZED (
  SELECT id, account_id, event, producer_id FROM events
  WHERE (SELECT mine FROM alone) AND id > $1::uuid AND id < $2::uuid ORDER BY id LIMIT $3::integer
),
freed AS (
  DELETE FROM event_keys k USING page p
  WHERE k.producer_id = p.producer_id AND k.account_id = p.account_id AND k.event = p.event
    AND k.event_id = p.id
)
SELECT mine, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last FROM alone`,
};

/**
 * Takes partition $1 out of its table, or ends such a detaching that was interrupted; does nothing
 * where another worker was faster.
 */
export const DETACH = {
  text: `${ALONE}
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT detach_partition($1)::text AS done
  FROM pg_inherits WHERE mine AND inhrelid = to_regclass(quote_ident($1))
) d ON true`,
};

/** What is detached and to be dropped. */
export const DETACHED = {
  text: `
SELECT relname AS name FROM pg_class
WHERE relkind = 'r' AND NOT relispartition
  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
  AND obj_description(oid, 'pg_class') = '${MARK}'
ORDER BY relname`,
};

/** Drops table $1, unless another worker was faster. */
export const DROP = {
  text: `${ALONE}
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT drop_partition($1)::text AS done WHERE mine AND to_regclass(quote_ident($1)) IS NOT NULL
) d ON true`,
};
