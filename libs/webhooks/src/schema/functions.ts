import { OPERATORS } from '#libs/identity';
import type { Config } from '#libs/runtime';
import { REMOVE_ACCOUNT } from '../closings/remove-account.js';
import { fromMatching } from '../event-kinds/domain/matching.js';
import { MAX_ADDED } from '../deliveries/domain/delivery.js';
import { addedId, firstDeliveryTo } from '../deliveries/missed-events.statements.js';
import { ERASE_EVENTS_FUNCTION } from '../erasures/erase-events.js';
import { DAYS_AHEAD } from '../partitions/partitions.module.js';
import { FEED_FUNCTIONS, placedAt } from '../events/feed-functions.js';
import { RECOVER_WEBHOOK } from '../recoveries/recover-webhook.js';
import { DAYS_BEYOND } from '../retention/retention.statements.js';

/**
 * The functions of this version, which `migrate` applies each time.
 * Before you change one, read {@link DatabaseSchema.script}.
 */
export const functions = ({ RETENTION_DAYS }: Config): string =>
  PARTITIONS +
  retentionFunctions(RETENTION_DAYS) +
  OLD_PARTITIONS +
  FEED_FUNCTIONS +
  NOTICES +
  MISSED +
  RECOVER_WEBHOOK +
  ERASE_EVENTS_FUNCTION +
  REMOVE_ACCOUNT +
  `SELECT ensure_partitions(${DAYS_AHEAD});`;

/**
 * For callers who may not create tables; a month ahead at most. A partition is created as a separate table and then
 * attached, which blocks no other statement, unlike CREATE … PARTITION OF. Other installations in the same database
 * have another lock.
 */
const PARTITIONS = `
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  parent text;
  day date;
  part text;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(7770001, 'events'::regclass::integer);
  FOREACH parent IN ARRAY ARRAY['events', 'deliveries', 'attempts'] LOOP
    FOR offset_days IN 0..least(days_ahead, 31) LOOP
      day := (now() AT TIME ZONE 'UTC')::date + offset_days;
      part := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      CONTINUE WHEN to_regclass(part) IS NOT NULL;
      EXECUTE format(
        'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = %s)',
        part, parent, CASE parent WHEN 'deliveries' THEN 70 ELSE 100 END);
      EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        parent, part,
        least_uuid(day::timestamp AT TIME ZONE 'UTC'),
        least_uuid((day + 1)::timestamp AT TIME ZONE 'UTC'));
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;
`;

/** Only the owner of the database can change how long data is kept. */
const retentionFunctions = (days: number): string => `
CREATE OR REPLACE FUNCTION retention_days() RETURNS integer LANGUAGE sql STABLE RETURN ${days};

CREATE OR REPLACE FUNCTION is_old_partition(part text) RETURNS boolean LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
  SELECT part ~ '^(events|deliveries|attempts)_[0-9]{8}$'
    AND right(part, 8)
      <= to_char((now() AT TIME ZONE 'UTC')::date - retention_days() - ${DAYS_BEYOND}, 'YYYYMMDD')
$$;

-- Removes subscriptions that were deleted before the oldest kept delivery was created.
CREATE OR REPLACE FUNCTION forget_webhooks(days integer, most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH forgotten AS (
    DELETE FROM webhooks WHERE id IN (
      SELECT id FROM webhooks
      WHERE deleted_at
          < now() - (greatest(days, retention_days()) + ${DAYS_BEYOND + 1}) * interval '24 hours'
        AND NOT cancelling
      ORDER BY deleted_at LIMIT most FOR UPDATE SKIP LOCKED
    )
    RETURNING id
  ),
  successes AS (
    DELETE FROM webhook_successes WHERE webhook_id IN (SELECT id FROM forgotten)
  )
  SELECT count(*)::integer FROM forgotten
$$;
`;

/**
 * While detach_partition() waits for its lock, all other statements on the table wait as well, so the lock timeout is short
 * and the caller retries (docs/decisions). Its comment tells drop_partition() that the partition was detached to be dropped,
 * and not by an operator who wants to keep it.
 */
const OLD_PARTITIONS = `
CREATE OR REPLACE FUNCTION detach_partition(part text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
  parent regclass;
BEGIN
  SELECT inhparent INTO parent FROM pg_inherits
  WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
    AND inhrelid = to_regclass(quote_ident(part));
  IF parent IS NOT NULL AND is_old_partition(part) THEN
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %I', parent, part);
    EXECUTE format('COMMENT ON TABLE %I IS %L', part, 'what is older than it is kept');
  ELSE
    RAISE insufficient_privilege USING MESSAGE = format('%s is no partition that is old', part);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION drop_partition(part text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
BEGIN
  PERFORM FROM pg_class
  WHERE oid = to_regclass(quote_ident(part)) AND relkind = 'r' AND NOT relispartition
    AND obj_description(oid, 'pg_class') = 'what is older than it is kept';
  IF NOT FOUND THEN
    RAISE insufficient_privilege USING MESSAGE = format('%s was not detached to be dropped', part);
  END IF;
  EXECUTE format('DROP TABLE %I', part);
END
$$;
`;

/**
 * The subscriptions `w` of operators to notices of all accounts, as FROM and WHERE. An account that is locked, or no longer
 * an operator's, is told nothing of others.
 * @param event the name of a row with the columns account_id and event
 */
const fromOperators = (
  event: string,
): string => `FROM webhooks w JOIN users u ON u.id = w.account_id
      WHERE w.accounts = 'all' AND w.account_id <> ${event}.account_id AND w.event = ${event}.event
        AND w.enabled AND w.deleted_at IS NULL AND u.status = 'active'
        AND u.role IN (${OPERATORS.map((role) => `'${role}'`).join(', ')})`;

/**
 * Tells an account's other subscriptions that one is failing, was disabled or has recovered, and those of operators to
 * notices of all accounts: stores an event for each account that listens, with a delivery for each subscription. So
 * no account sees that another was told. Returns the events, `[{id, accountId}]`; null if no subscription matches. A
 * worker calls this function because it may not insert events, and cannot create other events with it.
 *
 * Only workers judge data. So a subscription with a filter gets no delivery here, but a replay of missed events that
 * consists of the notice. Such a replay has an `event`, as no other replay of missed events has.
 *
 * The function is volatile, so it sees the row as the calling statement has just changed it. It locks no row. Citus takes
 * no parameters in statements of an SQL function. `sampleData()` has a sample of the data.
 */
const NOTICES = `
CREATE OR REPLACE FUNCTION tell_of_webhook(about bigint, kind text, since timestamptz, disables_at timestamptz)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  told_by json;
  told_at timestamptz := feed_time();
  placed_at timestamptz := ${placedAt('told_at')};
BEGIN
  WITH subject AS (
    SELECT * FROM webhooks
    WHERE id = about AND kind IN ('webhookFailing', 'webhookDisabled', 'webhookRecovered')
  ),
  told AS (
    SELECT account_id, application_id, kind AS event, 'all' AS resource FROM subject
  ),
  listening AS MATERIALIZED (
    SELECT w.id, w.account_id, w.generation, w.filter IS NOT NULL AS is_filtered FROM told t CROSS JOIN LATERAL (
      SELECT w.* ${fromMatching('t')}
      UNION ALL
      SELECT w.* ${fromOperators('t')}
    ) w
    WHERE w.id <> about
  ),
  notice AS (
    INSERT INTO events (id, account_id, application_id, event, resource, occurred_at, created_at,
      unmatched, data)
    SELECT new_uuid(told_at, row_number() OVER ()), listener,
      CASE listener WHEN account_id THEN application_id END, kind, 'all', told_at, told_at,
      is_unmatched, json_strip_nulls(json_build_object(
        'webhookId', id::text,
        'accountId', account_id::text,
        'name', name,
        'event', event,
        'targetUrl', regexp_replace(target_url, '//[^/?#]*@', '//'),
        'failingSince', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'disablesAt', to_char(disables_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'reason', CASE kind WHEN 'webhookDisabled' THEN disabled_reason END
      ))::text
    FROM subject CROSS JOIN (
      SELECT account_id AS listener, bool_and(is_filtered) AS is_unmatched FROM listening GROUP BY account_id
    ) l
    RETURNING id, account_id
  ),
  made AS (
    INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
      next_attempt_at, created_at)
    SELECT new_uuid(told_at, (SELECT count(*) FROM notice) + row_number() OVER ()), n.id, l.id, n.account_id, kind,
      l.generation, placed_at, placed_at
    FROM notice n JOIN listening l USING (account_id) WHERE NOT l.is_filtered
  ),
  replay AS (
    INSERT INTO replays (id, webhook_id, account_id, event, since, until, states, missed, total)
    SELECT new_uuid(told_at, row_number() OVER ()), l.id, n.account_id, kind, ms.at, ms.at + interval '1 ms', '{}', true, 0
    FROM notice n JOIN listening l USING (account_id) CROSS JOIN (SELECT date_trunc('milliseconds', told_at) AS at) ms
    WHERE l.is_filtered
    RETURNING id, webhook_id, account_id, replays.since
  ),
  part AS (
    INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
    SELECT r.id, r.account_id, l.id, l.generation, least_uuid(r.since) FROM replay r JOIN listening l ON l.id = r.webhook_id
  )
  SELECT json_agg(json_build_object('id', id, 'accountId', account_id::text)) INTO told_by FROM notice;
  RETURN told_by;
END
$$;
`;

/**
 * Adds deliveries of events that a subscription has missed, for a running replay of missed events, as sending each by hand
 * does. Returns their ids. A worker calls this function because it may not insert deliveries, and cannot create others
 * with it. It chooses the events, all of one account; an event that has a delivery to the subscription gets no other.
 *
 * The function is volatile, so that its second statement sees what was sent by hand until the first one had locked the
 * events, in the order of their ids. The bounds of the ids are literals, so that PostgreSQL opens only their days.
 */
const MISSED = `
CREATE OR REPLACE FUNCTION deliver_missed(replay uuid, webhook bigint, events uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  within text;
BEGIN
  -- Citus fails for bounds that are null.
  IF cardinality(events) = 0 THEN
    RETURN;
  END IF;
  SELECT format('BETWEEN %L::uuid AND %L::uuid', left(min(id::text), 19) || '0000-000000000000',
    left(max(id::text), 19) || 'ffff-ffffffffffff')
  INTO within FROM unnest(events) AS n(id);
  EXECUTE format('SELECT id FROM events WHERE id = ANY ($1) AND id %s ORDER BY id FOR NO KEY UPDATE', within)
  USING events;
  RETURN QUERY EXECUTE format($sql$
    WITH chosen AS MATERIALIZED (
      SELECT e.id, e.account_id, e.event, e.added + 1 AS added, w.id AS webhook_id, w.generation
      FROM replays r
        JOIN webhooks w ON w.id = r.webhook_id AND w.account_id = r.account_id
        CROSS JOIN unnest($3) AS n(id)
        JOIN LATERAL (SELECT * FROM events WHERE id = n.id AND id %1$s LIMIT 1) e ON e.account_id = w.account_id
      WHERE r.id = $1 AND r.missed AND r.state = 'running'
        AND w.id = $2 AND w.enabled AND w.deleted_at IS NULL
        AND e.event = w.event AND NOT e.test AND e.erased_at IS NULL AND e.added < ${MAX_ADDED}
        AND (SELECT count(*) FROM (${firstDeliveryTo('w.id', {
          eventId: 'e.id',
          condition: `id BETWEEN (left(e.id::text, 19) || '0000-000000000000')::uuid
        AND (left(e.id::text, 19) || 'ffff-ffffffffffff')::uuid AND id %1$s`,
        })}) d) = 0
    ),
    counted AS (
      UPDATE events SET added = added + 1, unmatched = false
      WHERE id = ANY (ARRAY(SELECT id FROM chosen)) AND id %1$s
    )
    INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at, created_at)
    SELECT ${addedId('c.id', 'c.added', 'c.webhook_id')}, c.id, c.webhook_id, c.account_id, c.event, c.generation,
      now(), clock_timestamp()
    FROM chosen c ORDER BY c.id
    RETURNING id
  $sql$, within)
  USING replay, webhook, events;
END
$$;
`;
