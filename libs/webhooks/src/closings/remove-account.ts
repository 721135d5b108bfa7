/**
 * Statements of accepted events and changes that began before an account was closed have ended by then: their time limit
 * is 14 s (roles.ts). Workers have written their counts, too.
 */
const LAST_WRITES = '30 seconds';

/**
 * Removes what accounts that are being closed have. Workers call these functions because they may not delete such rows,
 * and cannot delete others with them. The row in `closings` is locked, so that only one worker at a time is at an account.
 *
 * `remove_data_of_account` looks at the next rows of one kind, `deliveries` with their attempts or `events` with their keys,
 * and removes those that are not leased, so that an attempt in flight can be recorded. Returns how many it looked at and the
 * last one; no row if another worker is at it. The bounds are literals, so that PostgreSQL opens only their days.
 *
 * `finish_closing` removes what is not partitioned, some rows at each call, and finally closes the user, whose name becomes
 * free: no username has a colon. Returns how many rows it removed; 0 when it has closed the user, and null if it is too early
 * or another worker is at it. There is no index on applications of deleted subscriptions, so it removes few of them.
 */
export const REMOVE_ACCOUNT = `
CREATE OR REPLACE FUNCTION remove_data_of_account(account bigint, kind text, after uuid, until uuid, most integer)
RETURNS TABLE (seen integer, last uuid) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  bounds text := format('> %L AND %%1$s < %L', after, until);
BEGIN
  PERFORM FROM closings WHERE account_id = account FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF kind = 'deliveries' THEN
    RETURN QUERY EXECUTE format($sql$
      WITH page AS MATERIALIZED (
        SELECT id FROM deliveries WHERE account_id = $1 AND id %1$s ORDER BY id LIMIT $2
      ),
      free AS MATERIALIZED (
        SELECT id FROM deliveries
        WHERE id = ANY (ARRAY(SELECT id FROM page)) AND id %1$s AND (claimed_until IS NULL OR claimed_until <= now())
        ORDER BY id FOR UPDATE SKIP LOCKED
      ),
      tried AS (
        DELETE FROM attempts WHERE delivery_id = ANY (ARRAY(SELECT id FROM free)) AND delivery_id %2$s
      ),
      removed AS (
        DELETE FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM free)) AND id %1$s
      )
      SELECT count(*)::integer, (SELECT id FROM page ORDER BY id DESC LIMIT 1) FROM page
    $sql$, format(bounds, 'id'), format(bounds, 'delivery_id')) USING account, most;
  ELSE
    RETURN QUERY EXECUTE format($sql$
      WITH page AS MATERIALIZED (
        SELECT id, event, producer_id FROM events WHERE account_id = $1 AND id %1$s ORDER BY id LIMIT $2
      ),
      freed AS (
        DELETE FROM event_keys k USING page p
        WHERE k.producer_id = p.producer_id AND k.account_id = $1 AND k.event = p.event AND k.event_id = p.id
      ),
      removed AS (
        DELETE FROM events WHERE id = ANY (ARRAY(SELECT id FROM page)) AND id %1$s
      )
      SELECT count(*)::integer, (SELECT id FROM page ORDER BY id DESC LIMIT 1) FROM page
    $sql$, format(bounds, 'id')) USING account, most;
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION finish_closing(account bigint, most integer)
RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  kind text;
  removed integer;
BEGIN
  PERFORM FROM closings
  WHERE account_id = account AND requested_at < now() - interval '${LAST_WRITES}' FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  FOREACH kind IN ARRAY ARRAY['replay_parts', 'replays', 'attempt_counts', 'erasures', 'idempotency_keys'] LOOP
    EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE account_id = $1 LIMIT $2))', kind)
    USING account, most;
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF removed > 0 THEN
      RETURN removed;
    END IF;
  END LOOP;
  WITH gone AS (
    DELETE FROM webhooks WHERE id IN (SELECT id FROM webhooks WHERE account_id = account LIMIT most) RETURNING id
  ),
  losses AS (
    DELETE FROM webhook_losses WHERE webhook_id IN (SELECT id FROM gone)
  ),
  successes AS (
    DELETE FROM webhook_successes WHERE webhook_id IN (SELECT id FROM gone)
  )
  SELECT count(*) INTO removed FROM gone;
  IF removed > 0 THEN
    RETURN removed;
  END IF;
  DELETE FROM applications WHERE id IN (SELECT id FROM applications WHERE user_id = account LIMIT most / 10);
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed > 0 THEN
    RETURN removed;
  END IF;
  DELETE FROM credentials WHERE user_id = account;
  UPDATE users SET status = 'closed', username = 'closed:' || id WHERE id = account AND status = 'closing';
  DELETE FROM closings WHERE account_id = account;
  RETURN 0;
END
$$;
`;
