-- CHECK, prepared as database.check
SELECT pg_is_in_recovery() AS "isStandby",
  (SELECT json_object_agg(name, current_setting(name)) FROM unnest(
    '{DateStyle,array_nulls,extra_float_digits,default_transaction_isolation,synchronous_commit,session_replication_role,server_encoding,server_version,server_version_num,default_transaction_read_only,search_path,synchronous_standby_names}'::text[]
  ) AS name) AS now,
  (SELECT json_object_agg(name, value) FROM (
    SELECT DISTINCT ON (1) lower(split_part(setting, '=', 1)) AS name,
      substr(setting, strpos(setting, '=') + 1) AS value
    FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS setting
    WHERE s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
      AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY 1, s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
  ) AS of_next) AS next,
  session_user AS role, EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql') AS "hasLanguage", tables.nspname AS schema, tables.is_on_path IS TRUE AS "isOnPath"
FROM (SELECT) AS one LEFT JOIN LATERAL (
  SELECT nspname, pg_table_is_visible(c.oid) AS is_on_path
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE relname = 'processes' AND relkind = 'r' AND EXISTS (
    SELECT FROM pg_class WHERE relname = 'idempotency_keys' AND relnamespace = c.relnamespace
  )
  ORDER BY pg_table_is_visible(c.oid) DESC LIMIT 1
) AS tables ON true;

-- CHECK_COMMIT, prepared as database.commit
SELECT json_build_object('synchronous_standby_names', current_setting('synchronous_standby_names'),
  'synchronous_commit', current_setting('synchronous_commit')) AS now;

-- CLAIM_KEY
INSERT INTO idempotency_keys AS k (account_id, key, fingerprint)
VALUES ($1, $2, $3)
ON CONFLICT (account_id, key) DO UPDATE SET
  fingerprint = CASE WHEN excluded.created_at - k.created_at >= interval '24 hours' THEN excluded.fingerprint ELSE k.fingerprint END,
  href = CASE WHEN excluded.created_at - k.created_at >= interval '24 hours' THEN NULL ELSE k.href END,
  created_at = CASE WHEN excluded.created_at - k.created_at >= interval '24 hours' THEN excluded.created_at ELSE k.created_at END
RETURNING href, fingerprint = $3 AS same;

-- DATABASE_STATE, prepared as database.state
SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local') AS "isSynchronous",
  extract(epoch FROM clock_timestamp())::float8 AS "clockS";

-- DELETE_EXPIRED_KEYS, prepared as idempotency-keys.delete-expired
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM idempotency_keys WHERE created_at <= now() - interval '24 hours'
  ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- DELETE_PROCESS
DELETE FROM processes WHERE id = $1;

-- LIST_PROCESSES
SELECT id, kind, version, started_at AS "startedAt", seen_at AS "seenAt", in_flight AS "inFlight",
  cpu_percent AS "cpuPercent", memory_bytes::float8 AS "memoryBytes", hold_cause AS "holdCause",
  hold_since AS "holdSince",
  extract(epoch FROM now() - seen_at)::float8 AS "silentS"
FROM processes ORDER BY kind, started_at, id;

-- SET_TIMEOUTS
SELECT set_config('lock_timeout', '2s', true),
  set_config('idle_in_transaction_session_timeout', '15s', true);

-- STORE_HREF
UPDATE idempotency_keys SET href = $1 WHERE account_id = $2 AND key = $3;

-- TRY_WRITE
INSERT INTO processes (id, kind, version, in_flight)
SELECT 'write ' || pg_backend_pid(), string_agg(md5(random()::text), ''), '', 0 FROM generate_series(1, 2000);
DELETE FROM processes WHERE id = 'write ' || pg_backend_pid();

-- WRITE_HEARTBEAT, prepared as processes.heartbeat
WITH gone AS (
  DELETE FROM processes WHERE id = ANY (ARRAY(
    SELECT id FROM processes WHERE seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED
  ))
)
INSERT INTO processes (id, kind, version, in_flight, cpu_percent, memory_bytes, hold_cause, hold_since)
VALUES ($1, $2, $3, $4::integer, $5::integer, $6::bigint,
  $7::text, $8::timestamptz)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, in_flight = excluded.in_flight,
  cpu_percent = excluded.cpu_percent, memory_bytes = excluded.memory_bytes,
  hold_cause = excluded.hold_cause, hold_since = excluded.hold_since;
