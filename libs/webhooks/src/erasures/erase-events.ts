const LEAST = '0000-000000000000';
const GREATEST = 'ffff-ffffffffffff';

/**
 * Erases events for a running erasure that has not reached `up_to` yet, and stores its progress: empties the data of
 * those `matched`, and the stored answers of their deliveries' attempts, cancels their deliveries that wait, and removes the
 * producers' keys of those `keyed`. Returns false if the erasure is further, has ended, or another worker is at it.
 * A worker calls these functions because it may change neither events nor attempts. With them, it can only empty
 * them, and only where an erasure is for them.
 *
 * The deliveries are locked by a statement of their own, so that the next one sees all attempts that were recorded
 * before; `erased` keeps later ones from storing an answer. The bounds of the ids are literals, so that PostgreSQL
 * opens only their days.
 */
export const ERASE_EVENTS_FUNCTION = `
CREATE OR REPLACE FUNCTION erase_events(erasure uuid, matched uuid[], keyed uuid[], up_to uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  job erasures;
  within text;
  erased uuid[];
  freed integer := 0;
  affected uuid[];
  stopped integer := 0;
BEGIN
  SELECT * INTO job FROM erasures
  WHERE id = erasure AND completed_at IS NULL AND after < up_to FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF cardinality(matched || keyed) > 0 THEN
    SELECT format('BETWEEN %L::uuid AND %L::uuid', left(min(id::text), 19) || '${LEAST}',
      left(max(id::text), 19) || '${GREATEST}')
    INTO within FROM unnest(matched || keyed) AS n(id);
    -- In the order in which statements that add deliveries lock events.
    EXECUTE format('SELECT id FROM events WHERE id = ANY ($1) AND id %s ORDER BY id FOR NO KEY UPDATE', within)
    USING matched || keyed;
    EXECUTE format($sql$
      WITH chosen AS MATERIALIZED (
        SELECT id, account_id, event, producer_id, id = ANY ($1) AND erased_at IS NULL AS is_matched,
          id = ANY ($2) AND producer_id IS NOT NULL AND strpos(producer_id, $3) > 0 AS is_keyed
        FROM events
        WHERE id = ANY ($1 || $2) AND id %1$s AND ($4 IS NULL OR account_id = $4) AND created_at < $5
      ),
      -- A key that now belongs to another event stays until that one is reached.
      freed AS (
        DELETE FROM event_keys k USING chosen c
        WHERE c.is_keyed AND k.producer_id = c.producer_id AND k.account_id = c.account_id AND k.event = c.event
          AND k.event_id = c.id
      ),
      emptied AS (
        UPDATE events
        SET data = CASE WHEN id = ANY ($1) THEN '{}' ELSE data END,
          erased_at = CASE WHEN id = ANY ($1) THEN coalesce(erased_at, now()) ELSE erased_at END,
          producer_id = CASE WHEN id = ANY ($2) AND strpos(producer_id, $3) > 0 THEN NULL ELSE producer_id END
        WHERE id = ANY (ARRAY(SELECT id FROM chosen WHERE is_matched OR is_keyed)) AND id %1$s
      )
      SELECT coalesce(array_agg(id) FILTER (WHERE is_matched), '{}'), count(*) FILTER (WHERE is_keyed) FROM chosen
    $sql$, within)
    INTO erased, freed USING matched, keyed, job.contains, job.account_id, job.until;
    -- No others are added, because the events are locked. Locked by a statement of their own: PostgreSQL 18 may lose rows that
    -- are locked during a look-up in several partitions (row-lookups.ts).
    EXECUTE format($sql$
      SELECT coalesce(array_agg(d.id), '{}')
      FROM (SELECT DISTINCT left(id::text, 19) AS prefix FROM unnest($1) AS n(id)) p CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE id BETWEEN (p.prefix || '${LEAST}')::uuid AND (p.prefix || '${GREATEST}')::uuid AND id %1$s
          AND event_id = ANY ($1)
      ) d
    $sql$, within)
    INTO affected USING erased;
    EXECUTE format($sql$
      SELECT count(*) FILTER (WHERE state = 'pending') FROM (
        SELECT state FROM deliveries WHERE id = ANY ($1) AND id %1$s ORDER BY id FOR NO KEY UPDATE
      ) locked
    $sql$, within)
    INTO stopped USING affected;
    EXECUTE format($sql$
      WITH marked AS (
        UPDATE deliveries
        -- It keeps its lease: an attempt in flight is still recorded, without the answer.
        SET erased = true, state = CASE state WHEN 'pending' THEN 'cancelled' ELSE state END,
          reason = CASE state WHEN 'pending' THEN 'erased' ELSE reason END,
          completed_at = CASE state WHEN 'pending' THEN now() ELSE completed_at END
        WHERE id = ANY ($1) AND id %1$s
      )
      UPDATE attempts SET response_headers = NULL, response_body = NULL
      WHERE delivery_id = ANY ($1) AND delivery_id %1$s
        AND (response_headers IS NOT NULL OR response_body IS NOT NULL)
    $sql$, within)
    USING affected;
  END IF;
  UPDATE erasures SET after = up_to, advanced_at = clock_timestamp(),
    events = events + coalesce(cardinality(erased), 0), producer_ids = producer_ids + freed,
    deliveries = deliveries + stopped
  WHERE id = erasure;
  RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION end_erasure(erasure uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE erasures SET completed_at = now(), contains = NULL WHERE id = erasure AND completed_at IS NULL
$$;
`;
