import type { Statement } from '#libs/kernel';

/** Under it one worker at a time removes; any number, the same in every version. */
export const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(7770002) AS mine';

/** What is detached to be dropped says so: a table that an operator detached to keep it does not. */
const MARK = 'what is older than it is kept';

/** By it a statement of ours is known that still waits, though nobody waits for it any more. */
const TAG = '/* retention */';

/** Waits for others no longer: a backup may read a table for hours. */
const PATIENCE = `SET LOCAL lock_timeout = '2s'`;

/** A partition of one day. */
export interface PartitionRow {
  parent: 'events' | 'deliveries' | 'attempts';
  name: string;
  /** YYYYMMDD, in UTC. */
  day: string;
}

const PARTITIONS = `
SELECT parent.relname AS parent, part.relname AS name, right(part.relname, 8) AS day
FROM pg_inherits i
JOIN pg_class part ON part.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)`;

/**
 * The partitions of days that began $1 days ago or earlier, the oldest first. Of a day that of the
 * deliveries goes before that of the attempts, so that no attempt is recorded of a delivery whose
 * attempts have no partition; the events go last, since deliveries show what their event was.
 */
export const OLD_PARTITIONS = {
  text: `${PARTITIONS} AND NOT i.inhdetachpending
  AND part.relname ~ ('^' || parent.relname || '_[0-9]{8}$')
  AND right(part.relname, 8) <= to_char((now() AT TIME ZONE 'UTC')::date - $1::integer, 'YYYYMMDD')
ORDER BY day, array_position(ARRAY['deliveries', 'attempts', 'events']::name[], parent.relname)`,
};

/** Those whose detaching was interrupted, each of which keeps others of its table from being so. */
export const HALF_DETACHED = { text: `${PARTITIONS} AND i.inhdetachpending` };

/**
 * Ends up to $2 deliveries of a partition that are older than $1 days and not finished. An attempt
 * that is on its way is left its time to be recorded.
 */
export function expire(partition: string): Statement {
  return {
    text: `
WITH old AS MATERIALIZED (
  SELECT id FROM ${partition}
  WHERE state = 'pending' AND id < least_uuid(now() - $1::integer * interval '24 hours')
    AND (NOT taken OR claimed_until <= now())
  -- The order of the index on what is pending.
  ORDER BY webhook_id, next_attempt_at LIMIT $2::integer
  FOR UPDATE SKIP LOCKED
)
UPDATE ${partition} d
SET state = 'exhausted', reason = 'expired', completed_at = now(), claimed_until = NULL, taken = false
FROM old WHERE d.id = old.id
RETURNING d.id`,
  };
}

/** Whether anything of a partition waits. In the order of the index, which EXISTS would not use. */
export function findPending(partition: string): Statement {
  return {
    text: `SELECT id FROM ${partition} WHERE state = 'pending'
ORDER BY webhook_id, next_attempt_at LIMIT 1`,
  };
}

/**
 * Sets the keys free of up to $2 events of a partition: those after $1, which is the last one of the
 * call before. A key that was free and is another event's by now is left to that.
 * @returns the last event, nothing when there was none
 */
export function freeKeys(partition: string): Statement {
  return {
    text: `
WITH page AS MATERIALIZED (
  SELECT id, account_id, event, producer_id FROM ${partition}
  WHERE id > $1::uuid ORDER BY id LIMIT $2::integer
),
freed AS (
  DELETE FROM event_keys k USING page p
  WHERE k.producer_id = p.producer_id AND k.account_id = p.account_id AND k.event = p.event
    AND k.event_id = p.id
)
SELECT id FROM page ORDER BY id DESC LIMIT 1`,
  };
}

/** Whether something is being detached, by us or by an operator ($1, $2 how their statements begin or go). */
export const DETACHING = {
  text: `
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND (query LIKE $1 OR query ILIKE $2)
LIMIT 1`,
};

export const DETACHING_VALUES = [`${TAG}%`, 'alter table % detach partition %'];

/** Before it is detached, so that a worker that ends in between leaves nothing behind. */
export function mark({ name }: PartitionRow): Statement {
  return { text: `${TAG} ${PATIENCE}; COMMENT ON TABLE ${name} IS '${MARK}'` };
}

/** Locks out nobody, but waits for the statements under way; so it cannot be in a transaction. */
export function detach({ parent, name }: PartitionRow): Statement {
  return { text: `${TAG} ALTER TABLE ${parent} DETACH PARTITION ${name} CONCURRENTLY` };
}

/** Ends a detaching that was interrupted. */
export function finishDetaching({ parent, name }: PartitionRow): Statement {
  return { text: `${TAG} ALTER TABLE ${parent} DETACH PARTITION ${name} FINALIZE` };
}

/** What is detached and to be dropped. */
export const DETACHED = {
  text: `
SELECT relname AS name FROM pg_class
WHERE relkind = 'r' AND NOT relispartition
  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
  AND obj_description(oid, 'pg_class') = '${MARK}'
ORDER BY relname`,
};

export function drop(name: string): Statement {
  return { text: `${TAG} ${PATIENCE}; DROP TABLE IF EXISTS ${name}` };
}
