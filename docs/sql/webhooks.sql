-- ACCEPT_EVENTS, prepared as events.accept
WITH
accepted AS MATERIALIZED (SELECT feed_time() AS at),
-- The batch, with the accounts of its events.
given AS MATERIALIZED (
  SELECT *, (
      SELECT user_id FROM applications a
      WHERE id = g.application_id AND NOT EXISTS (SELECT FROM closings WHERE account_id = a.user_id)
    ) AS application_account,
    (SELECT id FROM users WHERE id = g.account_id AND status IN ('active', 'locked')) AS named_account
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::bigint[]), (SELECT $5::text[]), (SELECT $6::timestamptz[]), (SELECT $7::text[]), (SELECT $8::text[])) WITH ORDINALITY
    AS g(event, resource, application_id, account_id, producer_id, occurred_at, data, traceparent, ord)
),
-- The owner of each event, or why it is refused.
judged AS MATERIALIZED (
  SELECT new_uuid(at, ord) AS id, at, ord, event, resource, application_id, producer_id, data, traceparent,
    coalesce(application_account, named_account) AS account_id,
    coalesce(occurred_at, at) AS occurred_at,
    CASE
      WHEN application_id IS NOT NULL AND application_account IS NULL THEN 'unknown_application'
      WHEN account_id IS NOT NULL AND named_account IS NULL THEN 'unknown_account'
      WHEN application_account <> named_account THEN 'accounts_differ'
    END AS refusal
  FROM given CROSS JOIN accepted
),
-- Reads the subscriptions directly; there is no cache that could be stale.
matched AS MATERIALIZED (
  SELECT j.*, m.webhooks, m.generations, m.retries, m.are_free, m.is_unjudged
  FROM judged j CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(w.id), '{}') AS webhooks, array_agg(w.generation) AS generations,
      array_agg(w.retry) AS retries,
      array_agg($9::boolean AND (NOT w.backlog AND w.open_until IS NULL AND NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND NOT (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered))) AS are_free,
      coalesce(bool_or(w.filter_id IS NOT NULL), false) AS is_unjudged
    FROM (
      SELECT * FROM webhooks
      WHERE account_id = j.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks
      WHERE application_id = j.application_id AND deleted_at IS NULL
    ) w
    WHERE w.enabled AND w.event = j.event
      AND (w.resource = 'all' OR j.resource = ANY (string_to_array(w.resource, ',')))
      AND j.refusal IS NULL
  ) m
),
-- Inserts in key order, so that two batches cannot deadlock. Waits for the commit of a concurrent batch
-- with the same key.
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT account_id, event, producer_id, id, cardinality(webhooks)
  FROM matched
  WHERE refusal IS NULL AND producer_id IS NOT NULL AND NOT EXISTS (SELECT FROM matched WHERE is_unjudged)
  ORDER BY producer_id, account_id, event, ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
-- Only events with a new key are stored.
decided AS MATERIALIZED (
  SELECT *, refusal IS NULL AND EXISTS (SELECT FROM matched WHERE is_unjudged) AS held, refusal IS NULL AND NOT EXISTS (SELECT FROM matched WHERE is_unjudged)
    AND (producer_id IS NULL OR id IN (SELECT event_id FROM new_keys)) AS fresh
  FROM matched
),
stored AS (
  INSERT INTO events (id, account_id, application_id, event, resource, producer_id, occurred_at,
    created_at, traceparent, data, unmatched)
  SELECT id, account_id, application_id, event, resource, producer_id, occurred_at, at,
    traceparent, data, cardinality(webhooks) = 0
  FROM decided WHERE fresh
),
-- One delivery for each match, in the order of the events. A subscription's first ones go onto the queue if it is free.
fanned AS MATERIALIZED (
  SELECT d.id AS event_id, d.at, d.account_id, d.event, m.webhook_id, m.generation, m.retry, m.is_free,
    m.is_free AND row_number() OVER (PARTITION BY m.webhook_id ORDER BY d.ord) <= 20 AS at_once
  FROM decided d
  CROSS JOIN LATERAL unnest(d.webhooks, d.generations, d.retries, d.are_free)
    m(webhook_id, generation, retry, is_free)
  WHERE d.fresh
),
-- If some do not go onto the queue, later deliveries wait behind them in PostgreSQL.
crowded AS (
  UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
    SELECT id FROM webhooks
    WHERE id = ANY (ARRAY(SELECT webhook_id FROM fanned WHERE is_free AND NOT at_once))
    FOR NO KEY UPDATE SKIP LOCKED
  ))
),
-- Deliveries on the queue have a lease. If the job is lost, they are due when it ends.
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, takes, created_at)
  SELECT new_uuid(f.at, cardinality($1::text[]) + row_number() OVER ()), f.event_id,
    f.webhook_id, f.account_id, f.event, f.generation, coalesce(l.ends, l.placed), l.ends, f.at_once::integer, l.placed
  FROM fanned f
  CROSS JOIN LATERAL (
    SELECT CASE WHEN f.at_once THEN now() + make_interval(secs => (coalesce((f.retry ->> 'timeoutMs')::float8, $10::float8) + 15000) / 1000) END AS ends, least(f.at, now() + interval '1 second') AS placed
  ) l
  RETURNING id, webhook_id, takes
)
SELECT ord::integer AS ord, refusal, id AS "eventId", account_id AS "accountId", fresh, held,
  cardinality(webhooks) AS deliveries, NULL::uuid AS "deliveryId", NULL::bigint AS "webhookId"
FROM decided
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, id, webhook_id FROM made WHERE takes = 1;

-- ACCEPT_FILTERED_EVENTS, prepared as events.accept-filtered
WITH
accepted AS MATERIALIZED (SELECT feed_time() AS at),
-- The batch, with the accounts of its events.
given AS MATERIALIZED (
  SELECT *, (
      SELECT user_id FROM applications a
      WHERE id = g.application_id AND NOT EXISTS (SELECT FROM closings WHERE account_id = a.user_id)
    ) AS application_account,
    (SELECT id FROM users WHERE id = g.account_id AND status IN ('active', 'locked')) AS named_account
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::bigint[]), (SELECT $5::text[]), (SELECT $6::timestamptz[]), (SELECT $7::text[]), (SELECT $8::text[])) WITH ORDINALITY
    AS g(event, resource, application_id, account_id, producer_id, occurred_at, data, traceparent, ord)
),
-- The owner of each event, or why it is refused.
judged AS MATERIALIZED (
  SELECT new_uuid(at, ord) AS id, at, ord, event, resource, application_id, producer_id, data, traceparent,
    coalesce(application_account, named_account) AS account_id,
    coalesce(occurred_at, at) AS occurred_at,
    CASE
      WHEN application_id IS NOT NULL AND application_account IS NULL THEN 'unknown_application'
      WHEN account_id IS NOT NULL AND named_account IS NULL THEN 'unknown_account'
      WHEN application_account <> named_account THEN 'accounts_differ'
    END AS refusal,
    width_bucket(ord::integer, $9::integer[]) AS request, ($10::text[])[ord::integer] AS verdicts
  FROM given CROSS JOIN accepted
),
-- Reads the subscriptions directly; there is no cache that could be stale.
matched AS MATERIALIZED (
  SELECT j.*, m.webhooks, m.generations, m.retries, m.are_free, m.is_unjudged
  FROM judged j CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(w.id), '{}') AS webhooks, array_agg(w.generation) AS generations,
      array_agg(w.retry) AS retries,
      array_agg($11::boolean AND (NOT w.backlog AND w.open_until IS NULL AND NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND NOT (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered))) AS are_free,
      coalesce(bool_or(w.filter_id IS NOT NULL AND NOT strpos(coalesce(j.verdicts, ''), '=' || w.filter_id) > 0), false) AS is_unjudged
    FROM (
      SELECT * FROM webhooks
      WHERE account_id = j.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks
      WHERE application_id = j.application_id AND deleted_at IS NULL
    ) w
    WHERE w.enabled AND w.event = j.event
      AND (w.resource = 'all' OR j.resource = ANY (string_to_array(w.resource, ',')))
      AND j.refusal IS NULL
      AND (w.filter_id IS NULL OR NOT strpos(coalesce(j.verdicts, ''), '!' || w.filter_id) > 0)
  ) m
),
-- Inserts in key order, so that two batches cannot deadlock. Waits for the commit of a concurrent batch
-- with the same key.
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT account_id, event, producer_id, id, cardinality(webhooks)
  FROM matched
  WHERE refusal IS NULL AND producer_id IS NOT NULL AND NOT (request, account_id) IN (SELECT request, account_id FROM matched WHERE is_unjudged)
  ORDER BY producer_id, account_id, event, ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
-- Only events with a new key are stored.
decided AS MATERIALIZED (
  SELECT *, refusal IS NULL AND (request, account_id) IN (SELECT request, account_id FROM matched WHERE is_unjudged) AS held, refusal IS NULL AND NOT (request, account_id) IN (SELECT request, account_id FROM matched WHERE is_unjudged)
    AND (producer_id IS NULL OR id IN (SELECT event_id FROM new_keys)) AS fresh
  FROM matched
),
stored AS (
  INSERT INTO events (id, account_id, application_id, event, resource, producer_id, occurred_at,
    created_at, traceparent, data, unmatched)
  SELECT id, account_id, application_id, event, resource, producer_id, occurred_at, at,
    traceparent, data, cardinality(webhooks) = 0
  FROM decided WHERE fresh
),
-- One delivery for each match, in the order of the events. A subscription's first ones go onto the queue if it is free.
fanned AS MATERIALIZED (
  SELECT d.id AS event_id, d.at, d.account_id, d.event, m.webhook_id, m.generation, m.retry, m.is_free,
    m.is_free AND row_number() OVER (PARTITION BY m.webhook_id ORDER BY d.ord) <= 20 AS at_once
  FROM decided d
  CROSS JOIN LATERAL unnest(d.webhooks, d.generations, d.retries, d.are_free)
    m(webhook_id, generation, retry, is_free)
  WHERE d.fresh
),
-- If some do not go onto the queue, later deliveries wait behind them in PostgreSQL.
crowded AS (
  UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
    SELECT id FROM webhooks
    WHERE id = ANY (ARRAY(SELECT webhook_id FROM fanned WHERE is_free AND NOT at_once))
    FOR NO KEY UPDATE SKIP LOCKED
  ))
),
-- Deliveries on the queue have a lease. If the job is lost, they are due when it ends.
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, takes, created_at)
  SELECT new_uuid(f.at, cardinality($1::text[]) + row_number() OVER ()), f.event_id,
    f.webhook_id, f.account_id, f.event, f.generation, coalesce(l.ends, l.placed), l.ends, f.at_once::integer, l.placed
  FROM fanned f
  CROSS JOIN LATERAL (
    SELECT CASE WHEN f.at_once THEN now() + make_interval(secs => (coalesce((f.retry ->> 'timeoutMs')::float8, $12::float8) + 15000) / 1000) END AS ends, least(f.at, now() + interval '1 second') AS placed
  ) l
  RETURNING id, webhook_id, takes
)
SELECT ord::integer AS ord, refusal, id AS "eventId", account_id AS "accountId", fresh, held,
  cardinality(webhooks) AS deliveries, NULL::uuid AS "deliveryId", NULL::bigint AS "webhookId"
FROM decided
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, id, webhook_id FROM made WHERE takes = 1;

-- ADD_COUNTS, prepared as attempt-counts.add
INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[],
  $4::text[], $5::smallint[], $6::integer[])
ON CONFLICT (account_id, webhook_id, at, outcome, bin)
DO UPDATE SET count = attempt_counts.count + excluded.count;

-- ADD_LOADS, prepared as account-loads.add
INSERT INTO account_loads AS l (at, account_id, reported, delivered, failed, busy_ms)
SELECT * FROM unnest($1::timestamptz[], $2::bigint[], $3::integer[], $4::integer[],
  $5::integer[], $6::bigint[])
ON CONFLICT (at, account_id) DO UPDATE
SET reported = l.reported + excluded.reported, delivered = l.delivered + excluded.delivered,
  failed = l.failed + excluded.failed, busy_ms = l.busy_ms + excluded.busy_ms;

-- ADD_LOSSES, prepared as webhook-losses.add
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (SELECT * FROM unnest($1::bigint[], $2::integer[]) AS n(webhook_id, count)) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
RETURNING webhook_id AS "webhookId", xmax = 0 AS "isFirst";

-- ADD_SUCCESSES, prepared as webhook-successes.add
INSERT INTO webhook_successes AS s (webhook_id, at)
SELECT w.id, a.at FROM unnest($1::bigint[], $2::timestamptz[]) AS a(webhook_id, at)
JOIN webhooks w ON w.id = a.webhook_id
ORDER BY w.id
ON CONFLICT (webhook_id) DO UPDATE SET at = greatest(s.at, excluded.at)
RETURNING webhook_id AS "webhookId", xmax = 0 AS "isFirst";

-- ADVANCE, prepared as recoveries.advance
UPDATE recoveries SET after = greatest(after, $1), visited_at = CASE WHEN $2::boolean THEN now() END
WHERE id = $3 AND visited_at IS NULL;

-- APPLY_DECISIONS, prepared as verdicts.apply
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
decided AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[],
    $4::integer[], $5::integer[], $6::text[], $7::float8[],
    $8::float8[], $9::text[], $10::boolean[], $11::text[])
    AS d(webhook_id, target_version, stored, failures, openings, failing, open_ms, hold_ms, off,
      backlog, notice)
),
-- Only subscriptions with unchanged health. Skips locked rows instead of waiting.
locked AS MATERIALIZED (
  SELECT w.id, w.failing_since FROM decided d CROSS JOIN LATERAL (
    SELECT id, failing_since FROM webhooks w
    WHERE w.id = d.webhook_id AND w.target_version = d.target_version AND w.enabled AND w.deleted_at IS NULL
      AND format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)) = d.stored
    FOR NO KEY UPDATE SKIP LOCKED
  ) w
),
changed AS (
  UPDATE webhooks w
  SET failures = coalesce(d.failures, w.failures),
    openings = coalesce(d.openings, w.openings),
    failing_since = CASE WHEN d.failures IS NULL OR d.failing = 'kept' THEN w.failing_since
      WHEN d.failing = 'now' THEN (SELECT at FROM clock) END,
    opened_at = CASE WHEN d.failures IS NULL THEN w.opened_at
      WHEN d.open_ms IS NOT NULL THEN coalesce(w.opened_at, (SELECT at FROM clock)) END,
    open_until = CASE WHEN d.failures IS NULL THEN w.open_until
      ELSE ((SELECT utc FROM clock) + make_interval(secs => d.open_ms / 1000)) AT TIME ZONE 'UTC' END,
    hold_until = greatest(w.hold_until, ((SELECT utc FROM clock) + make_interval(secs => d.hold_ms / 1000)) AT TIME ZONE 'UTC'),
    backlog = w.backlog OR d.backlog,
    enabled = CASE d.off WHEN 'gone' THEN false WHEN 'failing' THEN false ELSE w.enabled END,
    disabled_reason = CASE d.off WHEN 'gone' THEN 'gone' WHEN 'failing' THEN 'failing' ELSE w.disabled_reason END,
    disabled_at = CASE d.off WHEN 'gone' THEN (SELECT at FROM clock) WHEN 'failing' THEN (SELECT at FROM clock) ELSE w.disabled_at END,
    generation = CASE d.off WHEN 'gone' THEN w.generation + 1 WHEN 'failing' THEN w.generation + 1 ELSE w.generation END,
    cancelling = CASE d.off WHEN 'gone' THEN true WHEN 'failing' THEN true ELSE w.cancelling END,
    version = CASE d.off WHEN 'gone' THEN w.version + 1 WHEN 'failing' THEN w.version + 1 ELSE w.version END,
    updated_at = CASE d.off WHEN 'gone' THEN (SELECT at FROM clock) WHEN 'failing' THEN (SELECT at FROM clock) ELSE w.updated_at END
  FROM decided d JOIN locked l ON l.id = d.webhook_id
  WHERE w.id = d.webhook_id
  RETURNING w.id, w.account_id, w.failing_since, w.open_until, d.open_ms, d.off, d.notice, l.failing_since AS since
),
told AS MATERIALIZED (
  SELECT w.id, tell_of_webhook(w.id, w.notice, w.since,
    CASE WHEN w.open_ms IS NOT NULL THEN greatest(w.open_until, w.failing_since + make_interval(secs => 432000)) END) AS events
  FROM changed w WHERE w.notice IS NOT NULL
),
recorded AS (
  INSERT INTO audit (account_id, actor, action, resource_id, fields)
  SELECT account_id, 'system', 'webhook.disable', id::text, '{enabled}'
  FROM changed WHERE off IS NOT NULL
)
SELECT w.id, c.id IS NOT NULL AS done, CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)))
    END AS health,
  (SELECT events FROM told WHERE id = w.id) AS "toldBy"
FROM decided d JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN changed c ON c.id = w.id
WHERE w.target_version = d.target_version AND w.enabled AND w.deleted_at IS NULL;

-- BOUNDS_OF_RANGE
SELECT date_trunc('milliseconds', least($1::timestamptz, now())) AS until,
     least_uuid($2::timestamptz) AS after;

-- CANCEL_REPLAY, prepared as replays.cancel
UPDATE replays SET state = 'cancelled', completed_at = now() WHERE id = $1 AND state = 'running'
RETURNING id;

-- CANCEL_REQUESTED
UPDATE deliveries d
SET state = 'cancelled', reason = 'requested', completed_at = now()
FROM webhooks w
WHERE d.id = $1 AND w.id = d.webhook_id AND d.state = 'pending' AND d.generation >= w.generation
RETURNING d.id;

-- CLAIM(…), prepared as pending.claim.20454
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
-- Due deliveries without a lease; skips locked rows.
found AS MATERIALIZED (
  SELECT d.id, (NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation) AS is_off, d.claimed_until IS NOT NULL AS is_expired, true AS fits
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT $1::bigint[]), (SELECT $2::integer[]), (SELECT $3::float8[]))
    AS a(webhook_id, most, due_for_ms)
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = a.webhook_id LIMIT 1) w ON NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND (w.open_until IS NULL OR w.id = ANY ($4::bigint[])) AND NOT (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered)
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE webhook_id = a.webhook_id AND state = 'pending' AND NOT immediate
      AND next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now()) AND next_attempt_at >= now() - make_interval(secs => a.due_for_ms / 1000)
      AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY next_attempt_at, id LIMIT a.most
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
),
-- Done here because these rows were found anyway.
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.webhook_id, d.reason
),
lost AS (
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM cancelled
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
),
leased AS (
  UPDATE deliveries d
  -- As the index on pending rows shows it as due when its lease ends, queries for due ones read no leased rows.
  SET takes = d.takes + 1, claimed_until = now() + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $5::float8) + 15000) / 1000),
    next_attempt_at = CASE WHEN d.resumes_at IS NOT NULL AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.next_attempt_at ELSE ((SELECT utc FROM clock) + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $5::float8) + 15000) / 1000)) AT TIME ZONE 'UTC' END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND NOT is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.id, d.event_id, d.webhook_id, d.generation, d.attempts, d.takes,
    d.schedule_base, d.immediate, d.resumes_at, d.extra_attempts, d.replayed, d.created_at,
    d.claimed_until
)

SELECT d.id, d.webhook_id AS "webhookId", d.attempts + 1 AS attempt, d.takes AS lease,
  d.schedule_base AS "scheduleBase", d.immediate, d.resumes_at IS NOT NULL AS "isExtra",
  coalesce(d.extra_attempts, 0) AS "extraAttempts", d.replayed, d.created_at AS "createdAt",
  now() AS "takenAt", (extract(epoch FROM d.claimed_until - now()) * 1000)::float8 AS "leaseMs",
  e.account_id AS "accountId", e.application_id AS "applicationId", e.event, e.resource,
  e.occurred_at AS "occurredAt", e.test, e.traceparent, e.data, w.backlog, w.name,
  w.target_url AS "targetUrl", w.userinfo, w.target_version AS "targetVersion", w.headers, w.payload,
  w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS "retiredSecrets",
  CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)))
    END AS health, w.id = ANY ($4::bigint[]) AS "isProbe",
  d.id = ANY (ARRAY(SELECT id FROM found WHERE is_expired)) AS "isExpired"
FROM leased d
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true
ORDER BY d.id;

-- CLAIM_IMMEDIATE(…), prepared as pending.claim-immediate.20454
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
-- Due deliveries without a lease; skips locked rows.
found AS MATERIALIZED (
  SELECT d.id, (NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation) AS is_off, d.claimed_until IS NOT NULL AS is_expired, true AS fits
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT $1::bigint[]), (SELECT $2::integer[]), (SELECT $3::float8[]))
    AS a(webhook_id, most, due_for_ms)
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = a.webhook_id LIMIT 1) w ON $4::bigint[] IS NOT NULL
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE webhook_id = a.webhook_id AND state = 'pending' AND immediate
      AND next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now()) AND next_attempt_at >= now() - make_interval(secs => a.due_for_ms / 1000)
      AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY next_attempt_at, id LIMIT a.most
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
),
-- Done here because these rows were found anyway.
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.webhook_id, d.reason
),
lost AS (
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM cancelled
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
),
leased AS (
  UPDATE deliveries d
  -- As the index on pending rows shows it as due when its lease ends, queries for due ones read no leased rows.
  SET takes = d.takes + 1, claimed_until = now() + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $5::float8) + 15000) / 1000),
    next_attempt_at = CASE WHEN d.resumes_at IS NOT NULL AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.next_attempt_at ELSE ((SELECT utc FROM clock) + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $5::float8) + 15000) / 1000)) AT TIME ZONE 'UTC' END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND NOT is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.id, d.event_id, d.webhook_id, d.generation, d.attempts, d.takes,
    d.schedule_base, d.immediate, d.resumes_at, d.extra_attempts, d.replayed, d.created_at,
    d.claimed_until
)

SELECT d.id, d.webhook_id AS "webhookId", d.attempts + 1 AS attempt, d.takes AS lease,
  d.schedule_base AS "scheduleBase", d.immediate, d.resumes_at IS NOT NULL AS "isExtra",
  coalesce(d.extra_attempts, 0) AS "extraAttempts", d.replayed, d.created_at AS "createdAt",
  now() AS "takenAt", (extract(epoch FROM d.claimed_until - now()) * 1000)::float8 AS "leaseMs",
  e.account_id AS "accountId", e.application_id AS "applicationId", e.event, e.resource,
  e.occurred_at AS "occurredAt", e.test, e.traceparent, e.data, w.backlog, w.name,
  w.target_url AS "targetUrl", w.userinfo, w.target_version AS "targetVersion", w.headers, w.payload,
  w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS "retiredSecrets",
  CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)))
    END AS health, w.id = ANY ($4::bigint[]) AS "isProbe",
  d.id = ANY (ARRAY(SELECT id FROM found WHERE is_expired)) AS "isExpired"
FROM leased d
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true
ORDER BY d.id;

-- CLAIM_PACED(…), prepared as pending.claim-paced.20454
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
locked AS MATERIALIZED (
  SELECT w.*, a.most, greatest(w.paced_until, now() - interval '100 ms') AS base,
    now() - make_interval(secs => a.due_for_ms / 1000) AS oldest
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT $1::bigint[]), (SELECT $2::integer[]), (SELECT $3::float8[]))
    AS a(webhook_id, most, due_for_ms)
  CROSS JOIN LATERAL (
    SELECT id, enabled, deleted_at, generation, paused, hold_until, open_until, max_per_second,
      max_concurrent, ordered, paced_until, in_flight, pace_waits
    FROM webhooks WHERE id = a.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w
  WHERE (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered) AND NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND (w.open_until IS NULL OR w.id = ANY ($4::bigint[])) AND coalesce(w.paced_until <= now(), true)
    AND NOT (w.ordered AND w.id = ANY ($5::bigint[]))
),
-- room: how many may be claimed now. live: the places of leases that have not ended.
asked AS MATERIALIZED (
  SELECT w.*, live.places AS live,
    greatest(0, least(w.most,
      1 + floor(extract(epoch FROM now() - w.base) * w.max_per_second)::integer,
      CASE WHEN w.ordered THEN 1 ELSE w.max_concurrent END - live.count)) AS room
  FROM locked w CROSS JOIN LATERAL (
    SELECT count(*)::integer AS count, jsonb_object_agg(key, value) AS places
    FROM jsonb_each_text(w.in_flight) WHERE value::timestamptz > now()
  ) live
),
-- Those whose number is greater than the room exceed the pace.
found AS MATERIALIZED (
  SELECT d.id, w.id AS webhook_id, (NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation) AS is_off, d.claimed_until IS NOT NULL AS is_expired,
    d.number <= w.room AS fits
  FROM asked w CROSS JOIN LATERAL (
    SELECT due.*, row_number() OVER () AS number FROM (
      SELECT id, generation, claimed_until FROM deliveries
      WHERE webhook_id = w.id AND state = 'pending' AND NOT immediate AND next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now()) AND next_attempt_at >= w.oldest
        AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
      ORDER BY next_attempt_at, id LIMIT w.room + 1
      FOR NO KEY UPDATE SKIP LOCKED
    ) due
  ) d
  WHERE NOT w.ordered
  UNION ALL
  SELECT d.id, w.id, (NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation), d.claimed_until IS NOT NULL, first.number <= w.room
  FROM asked w
  CROSS JOIN LATERAL (
    -- Does not skip any, whatever its lease or lock: those behind it wait.
    SELECT due.id, row_number() OVER () AS number FROM (
      SELECT id FROM deliveries
      WHERE webhook_id = w.id AND state = 'pending' AND (NOT immediate OR resumes_at IS NOT NULL) AND next_attempt_at >= w.oldest - interval '1 minute'
        AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
      ORDER BY next_attempt_at, id LIMIT 2
    ) due
  ) first
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE id = first.id AND state = 'pending' AND NOT immediate AND next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now()) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
  WHERE w.ordered AND 0 = (SELECT count(*) FROM (
    SELECT FROM deliveries WHERE webhook_id = w.id AND state = 'pending' AND (NOT immediate OR resumes_at IS NOT NULL) AND (id >= '019b71b4-4c00-0000-0000-000000000000'::uuid AND id < '019b76da-a800-0000-0000-000000000000'::uuid)
    ORDER BY next_attempt_at LIMIT 1
  ) earlier)
),
-- Done here because these rows were found anyway.
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.webhook_id, d.reason
),
lost AS (
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM cancelled
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
),
leased AS (
  UPDATE deliveries d
  -- As the index on pending rows shows it as due when its lease ends, queries for due ones read no leased rows.
  SET takes = d.takes + 1, claimed_until = now() + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $6::float8) + 15000) / 1000),
    next_attempt_at = CASE WHEN (SELECT ordered FROM asked WHERE id = d.webhook_id) THEN d.next_attempt_at ELSE ((SELECT utc FROM clock) + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $6::float8) + 15000) / 1000)) AT TIME ZONE 'UTC' END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND NOT is_off)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  RETURNING d.id, d.event_id, d.webhook_id, d.generation, d.attempts, d.takes,
    d.schedule_base, d.immediate, d.resumes_at, d.extra_attempts, d.replayed, d.created_at,
    d.claimed_until
),
counted AS MATERIALIZED (
  SELECT w.*, taken.count AS taken,
    w.base + make_interval(secs => coalesce(taken.count / w.max_per_second::float8, 0)) AS next,
    coalesce(w.live, '{}') || coalesce(taken.places, '{}') AS places,
    w.id = ANY (ARRAY(SELECT webhook_id FROM found WHERE NOT fits)) AS exceeds
  FROM asked w CROSS JOIN LATERAL (
    SELECT count(*) AS count, jsonb_object_agg(id || ' ' || takes, claimed_until) AS places
    FROM leased WHERE webhook_id = w.id
  ) taken
),
paced AS (
  UPDATE webhooks w
  SET paced_until = c.next,
    in_flight = CASE WHEN c.ordered OR c.max_concurrent IS NOT NULL THEN c.places END,
    pace_waits = c.exceeds
  FROM counted c WHERE w.id = c.id AND (c.taken > 0 OR c.exceeds <> c.pace_waits)
  RETURNING w.id, w.max_per_second, w.paced_until
)

SELECT d.id, d.webhook_id AS "webhookId", d.attempts + 1 AS attempt, d.takes AS lease,
  d.schedule_base AS "scheduleBase", d.immediate, d.resumes_at IS NOT NULL AS "isExtra",
  coalesce(d.extra_attempts, 0) AS "extraAttempts", d.replayed, d.created_at AS "createdAt",
  now() AS "takenAt", (extract(epoch FROM d.claimed_until - now()) * 1000)::float8 AS "leaseMs",
  e.account_id AS "accountId", e.application_id AS "applicationId", e.event, e.resource,
  e.occurred_at AS "occurredAt", e.test, e.traceparent, e.data, w.backlog, w.name,
  w.target_url AS "targetUrl", w.userinfo, w.target_version AS "targetVersion", w.headers, w.payload,
  w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS "retiredSecrets",
  CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)))
    END AS health, w.id = ANY ($4::bigint[]) AS "isProbe",
  d.id = ANY (ARRAY(SELECT id FROM found WHERE is_expired)) AS "isExpired",
  (SELECT CASE WHEN w.ordered THEN 'order' WHEN w.max_concurrent IS NOT NULL THEN 'concurrency'
    WHEN w.max_per_second IS NOT NULL THEN 'rate' END FROM asked w WHERE w.id = d.webhook_id) AS pace,
  (SELECT (extract(epoch FROM p.paced_until - now()) * 1000)::float8
   FROM paced p WHERE p.id = d.webhook_id AND p.max_per_second IS NOT NULL) AS "pacedMs"
FROM leased d
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true
ORDER BY d.id;

-- CLEAR_BACKLOG, prepared as pending.clear-backlog
WITH cleared AS (
UPDATE webhooks SET backlog = false WHERE id = ANY (ARRAY(
  SELECT id FROM webhooks
  WHERE id = ANY ($1::bigint[]) AND backlog <> false
  FOR NO KEY UPDATE SKIP LOCKED
)))
SELECT id FROM webhooks WHERE id = ANY ($1::bigint[]) AND backlog;

-- CLOSING_ACCOUNTS, prepared as closings.accounts
SELECT account_id AS "accountId" FROM closings ORDER BY requested_at, account_id;

-- CREATE_DELIVERY
WITH counted AS (
  UPDATE events SET added = added + 1, unmatched = false WHERE id = $1
  RETURNING id, account_id, event, added
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at,
  claimed_until, takes, created_at)
SELECT (left(e.id::text, 19) || '8' || to_hex(1048475 + least(e.added, 100))
      || right(md5(e.id::text || w.id), 10))::uuid, e.id, w.id, e.account_id,
  e.event, w.generation, coalesce(lease.ends, now()), lease.ends, (lease.ends IS NOT NULL)::integer,
  -- Not now(): others that have waited for the event's lock began their transactions in another order.
  clock_timestamp()
FROM counted e
  JOIN webhooks w ON w.id = $2 AND w.account_id = e.account_id AND w.enabled
    AND w.deleted_at IS NULL
  CROSS JOIN LATERAL (SELECT CASE WHEN $3::boolean AND (NOT w.backlog AND w.open_until IS NULL AND NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND NOT (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered)) THEN now() + make_interval(secs => (coalesce((w.retry ->> 'timeoutMs')::float8, $4::float8) + 15000) / 1000) END AS ends) lease
WHERE (SELECT count(*) FROM (SELECT id FROM deliveries
    WHERE webhook_id BETWEEN $2::bigint AND $2::bigint
      AND id BETWEEN $5::uuid AND $6::uuid AND event_id = $1
    ORDER BY webhook_id, id LIMIT 1) d) = 0
RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate, claimed_until IS NOT NULL AS queued;

-- CREATE_TEST, prepared as deliveries.create-test
WITH w AS (
  SELECT * FROM webhooks WHERE id = $1 AND enabled AND deleted_at IS NULL
),
accepted AS MATERIALIZED (SELECT feed_time() AS at),
sample AS (
  INSERT INTO events (id, account_id, application_id, event, resource, test, occurred_at,
    created_at, traceparent, data)
  SELECT new_uuid(at, 1), account_id, application_id, event, $2, true, at, at,
    $3, $4
  FROM w CROSS JOIN accepted
  RETURNING id, created_at
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, immediate,
  next_attempt_at, claimed_until, takes, created_at)
SELECT new_uuid(sample.created_at, 2), sample.id, w.id, w.account_id, w.event, w.generation, true,
  coalesce(lease.ends, now()), lease.ends, (lease.ends IS NOT NULL)::integer, sample.created_at
FROM w CROSS JOIN sample CROSS JOIN LATERAL (SELECT CASE WHEN $5::boolean AND true THEN now() + make_interval(secs => (coalesce((w.retry ->> 'timeoutMs')::float8, $6::float8) + 15000) / 1000) END AS ends) lease
RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate, claimed_until IS NOT NULL AS queued;

-- DAYS, prepared as partitions.days
SELECT (to_date(right(part.relname, 8), 'YYYYMMDD') - '1970-01-01'::date) AS day
FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid
WHERE i.inhparent = $1::regclass AND NOT i.inhdetachpending AND part.relname ~ '_[0-9]{8}$'
ORDER BY day DESC;

-- DELETED_SUBSCRIPTIONS
SELECT id FROM webhooks WHERE account_id = $1 AND deleted_at >= $2::timestamptz AND id > $3
   ORDER BY id LIMIT 100;

-- DELIVER_MISSED, prepared as replays.deliver_missed
WITH
-- Only if no other worker has advanced the replay and it may still continue: a subscription's replays wait for each
-- other, whether they are of it alone or of its account.
job AS MATERIALIZED (
  SELECT r.id, r.states, w.id AS target, w.generation AS present, w.ordered, now() AS at
  FROM replays r JOIN replay_parts p ON p.replay_id = r.id
    JOIN webhooks w ON w.id = p.webhook_id
  WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL
    AND w.generation = p.generation
    AND NOT ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false))
    AND NOT EXISTS (SELECT FROM replay_parts o WHERE o.account_id = w.account_id AND o.webhook_id = w.id AND o.replay_id < r.id)
    AND r.id = $1 AND w.id = $2 AND p.after = $3
  FOR UPDATE OF r, p SKIP LOCKED
),
chosen AS MATERIALIZED (
  SELECT delivery FROM job CROSS JOIN LATERAL deliver_missed(job.id, job.target, $4::uuid[]) AS delivery
),
-- New deliveries are sent after the replayed ones.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.target AND NOT w.backlog AND EXISTS (SELECT FROM chosen)
),
advanced AS (
  UPDATE replay_parts p SET after = $5,
    -- Others may have become exhausted in the time range meanwhile.
    remaining = greatest(p.remaining - (SELECT count(*) FROM chosen), 0)
  FROM job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND NOT $6::boolean
),
ended AS (
  DELETE FROM replay_parts p USING job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND $6
)
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM chosen),
  parts = r.parts - $6::integer,
  state = CASE WHEN $6 AND r.parts = 1 THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN $6 AND r.parts = 1 THEN job.at END
FROM job WHERE r.id = job.id
RETURNING r.id;

-- DETACH
WITH alone AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(7770002, 'events'::regclass::integer) AS mine
)
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT detach_partition($1)::text AS done
  FROM pg_inherits WHERE mine AND inhrelid = to_regclass(quote_ident($1))
) d ON true;

-- DETACHED
SELECT relname AS name FROM pg_class
WHERE relkind = 'r' AND NOT relispartition
  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
  AND obj_description(oid, 'pg_class') = 'what is older than it is kept'
ORDER BY relname;

-- DROP
WITH alone AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(7770002, 'events'::regclass::integer) AS mine
)
SELECT mine, done FROM alone LEFT JOIN LATERAL (
  SELECT drop_partition($1)::text AS done
  WHERE mine AND to_regclass(quote_ident($1)) IS NOT NULL
) d ON true;

-- EARLIER_REPLAY
SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS "agoMs"
FROM replays
WHERE (recovery_id IS NULL AND ((webhook_id = $1::bigint AND NOT (missed AND event IS NOT NULL))
    OR $1::bigint IS NULL AND webhook_id IS NULL AND account_id = $2::bigint)) AND id >= least_uuid(now() - make_interval(secs => $3::float8 / 1000))
ORDER BY id DESC OFFSET $4::integer - 1 LIMIT 1;

-- END_ACCOUNT
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
closing AS (
  INSERT INTO closings (account_id) VALUES ($1) ON CONFLICT DO NOTHING
),
deleted AS (
  UPDATE applications SET deleted_at = now() WHERE user_id = $1 AND deleted_at IS NULL
)
UPDATE webhooks w SET deleted_at = CASE 'all' WHEN 'all' THEN (SELECT at FROM clock) ELSE w.deleted_at END,
    payload = CASE 'all' WHEN 'all' THEN null ELSE w.payload END,
    filter = CASE 'all' WHEN 'all' THEN null ELSE w.filter END,
    filter_id = CASE 'all' WHEN 'all' THEN null ELSE w.filter_id END,
    headers = CASE 'all' WHEN 'all' THEN null ELSE w.headers END,
    userinfo = CASE 'all' WHEN 'all' THEN null ELSE w.userinfo END,
    generation = CASE 'all' WHEN 'all' THEN w.generation + 1 ELSE w.generation END,
    cancelling = CASE 'all' WHEN 'all' THEN true ELSE w.cancelling END
WHERE account_id = $1 AND deleted_at IS NULL;

-- END_CANCELLING, prepared as canceller.end
UPDATE webhooks w SET cancelling = false
WHERE w.id = ANY ($1::bigint[]) AND w.cancelling AND greatest(w.updated_at, w.deleted_at) < now() - interval '1 minute';

-- END_ERASURE, prepared as erasures.end
SELECT end_erasure($1::uuid);

-- END_PARTS, prepared as replays.end_parts
WITH ending AS MATERIALIZED (
  SELECT p.ctid AS part, r.id, p.remaining, EXISTS (
    SELECT FROM webhooks WHERE id = p.webhook_id AND deleted_at IS NULL
  ) AS is_off
  FROM unnest($1::uuid[], $2::bigint[]) AS n(id, webhook_id)
    JOIN replay_parts p ON p.replay_id = n.id AND p.webhook_id = n.webhook_id
    JOIN replays r ON r.id = p.replay_id
  FOR UPDATE OF p, r SKIP LOCKED
),
removed AS (
  DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(SELECT part FROM ending))
)
UPDATE replays r SET parts = r.parts - ended.count,
  left_off = r.left_off + ended.off, left_deleted = r.left_deleted + ended.deleted,
  state = CASE WHEN r.parts > ended.count THEN r.state WHEN r.webhook_id IS NULL THEN 'completed' ELSE 'cancelled' END,
  completed_at = CASE WHEN r.parts = ended.count THEN now() END
FROM (
  SELECT id, count(*)::integer AS count, coalesce(sum(remaining) FILTER (WHERE is_off), 0) AS off,
    coalesce(sum(remaining) FILTER (WHERE NOT is_off), 0) AS deleted
  FROM ending GROUP BY id
) ended
WHERE r.id = ended.id AND r.state = 'running';

-- END_WITHOUT_EVENT(…), prepared as pending.end-without-event.20454
WITH ended AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', claimed_until = NULL, next_attempt_at = NULL,
    completed_at = now()
  WHERE d.id = ANY (ARRAY(SELECT unnest($1::uuid[]))) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND d.state = 'pending'
  RETURNING d.webhook_id, d.reason
)

INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM ended
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at);

-- ENSURE, prepared as partitions.ensure
SELECT ensure_partitions($1);

-- ERASE_EVENTS, prepared as erasures.erase
SELECT erase_events($1::uuid, $2::uuid[], $3::uuid[], $4::uuid) AS done;

-- EVENTS_OF_KEY, prepared as events.of-key
SELECT event_id AS id FROM event_keys
WHERE producer_id = $1 AND ($2::bigint IS NULL OR account_id = $2)
ORDER BY event_id DESC;

-- EXISTING(…), prepared as pending.existing.20454
SELECT id FROM deliveries d WHERE d.id = ANY (ARRAY(SELECT unnest($1::uuid[]))) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid);

-- EXPIRE
WITH alone AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(7770002, 'events'::regclass::integer) AS mine
),
old AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE (SELECT mine FROM alone) AND id >= $1::uuid AND id < $2::uuid
    AND state = 'pending' AND id < least_uuid(now() - retention_days() * interval '24 hours')
    AND (claimed_until IS NULL OR claimed_until <= now())
  -- The order of the index on pending rows.
  ORDER BY webhook_id, next_attempt_at LIMIT $3::integer
  FOR UPDATE SKIP LOCKED
),
expired AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', completed_at = now(), claimed_until = NULL
  FROM old WHERE d.id = old.id AND d.id >= $1::uuid AND d.id < $2::uuid
  RETURNING d.webhook_id, d.reason
),
lost AS (
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM expired
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
)
SELECT mine, (SELECT count(*)::integer FROM expired) AS count FROM alone;

-- FIND_ACCEPTING, prepared as feed.accepting
SELECT (extract(epoch FROM (SELECT at FROM feed_clock ORDER BY at DESC LIMIT 1)) * 1000000)::bigint::text AS micros,
  (
SELECT min((classid::bigint << 32 | objid::bigint) & 2251799813685247) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 19 = ('events'::regclass::integer & 8191)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))::text AS since;

-- FIND_DELIVERY_IDS
SELECT w.id AS "webhookId", d.id AS "deliveryId"
FROM unnest($1::bigint[]) AS w(id) CROSS JOIN LATERAL (SELECT id FROM deliveries
    WHERE webhook_id BETWEEN w.id AND w.id
      AND id BETWEEN $2::uuid AND $3::uuid AND event_id = $4
    ORDER BY webhook_id, id LIMIT 1) d;

-- FIND_ERASURE, prepared as erasures.find
SELECT id, account_id AS "accountId", since, until,
  CASE WHEN completed_at IS NULL THEN 'running' ELSE 'completed' END AS state,
  events, producer_ids AS "producerIds", deliveries, after,
  created_at AS "createdAt", completed_at AS "completedAt"
FROM erasures WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2);

-- FIND_EVENT
SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data, added
FROM events WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2);

-- FIND_FILTERS, prepared as events.filters
SELECT e.ord::integer AS ord, w.filter_id AS id, w.filter AS text
FROM unnest((SELECT $1::bigint[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::text[]))
  WITH ORDINALITY AS e(account_id, application_id, event, resource, ord)
CROSS JOIN LATERAL (
  SELECT DISTINCT w.filter_id, w.filter FROM (
      SELECT * FROM webhooks
      WHERE account_id = e.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks
      WHERE application_id = e.application_id AND deleted_at IS NULL
    ) w
    WHERE w.enabled AND w.event = e.event
      AND (w.resource = 'all' OR e.resource = ANY (string_to_array(w.resource, ','))) AND w.filter_id IS NOT NULL
) w
ORDER BY ord, id;

-- FIND_FIRST_DAY, prepared as feed.first-day
SELECT min(day) AS day FROM (
  SELECT to_date(right(part.relname, 8), 'YYYYMMDD') - '1970-01-01'::date AS day
  FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid
  WHERE i.inhparent = 'events'::regclass AND NOT i.inhdetachpending AND part.relname ~ '_[0-9]{8}$'
) AS days
WHERE day >= $1::integer - retention_days();

-- FIND_KEYS, prepared as events.keys
SELECT k.account_id AS "accountId", k.event, k.producer_id AS "producerId", k.event_id AS "eventId",
  k.deliveries
FROM unnest((SELECT $1::bigint[]), (SELECT $2::text[]), (SELECT $3::text[]))
  AS g(account_id, event, producer_id)
JOIN event_keys k USING (account_id, event, producer_id);

-- FIND_PENDING
SELECT id FROM deliveries WHERE id >= $1::uuid AND id < $2::uuid AND state = 'pending'
ORDER BY webhook_id, next_attempt_at LIMIT 1;

-- FIND_RECOVERY, prepared as recoveries.find
SELECT r.id, r.since, r.until, r.subscriptions, r.circuits_closed AS "circuitsClosed",
  r.switched_on AS "switchedOn", r.deliveries, r.created_at AS "createdAt",
  coalesce(p.sent, 0)::integer AS sent,
  CASE WHEN r.visited_at IS NULL OR p.running THEN 'running' ELSE 'completed' END AS state,
  CASE WHEN r.visited_at IS NOT NULL AND p.running IS NOT TRUE THEN greatest(r.visited_at, p.completed_at) END
    AS "completedAt"
FROM recoveries r CROSS JOIN LATERAL (
  SELECT sum(replayed) AS sent, bool_or(state = 'running') AS running, max(completed_at) AS completed_at
  FROM replays WHERE recovery_id = r.id
) p
WHERE r.id = $1;

-- FIND_REPLAY, prepared as replays.find
SELECT id, webhook_id AS "webhookId", since, until, states, event, application_id AS "applicationId",
  status, nullif(missed, false) AS missed, state, total, replayed, json_strip_nulls(json_build_object(
    'off', nullif(left_off, 0), 'deleted', nullif(left_deleted, 0), 'test', nullif(left_tests, 0),
    'erased', nullif(left_erased, 0)
  )) AS "leftOutFor", created_at AS "createdAt", completed_at AS "completedAt"
FROM replays WHERE id = $1 AND account_id = $2;

-- FIND_SECRETS
SELECT id, account_id AS "accountId", userinfo, headers, secret, retired_secrets AS "retiredSecrets"
FROM webhooks
WHERE id > $1 AND (
  NOT starts_with(secret, $2) OR NOT starts_with(userinfo, $2)
  OR EXISTS (SELECT FROM json_each_text(headers) WHERE NOT starts_with(value, $2))
  OR EXISTS (
    SELECT FROM jsonb_array_elements(retired_secrets) r
    WHERE NOT starts_with(r ->> 'secret', $2)
  )
)
ORDER BY id LIMIT 100 FOR NO KEY UPDATE;

-- FIND_SUBSCRIPTION
SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource, filter, accounts,
  created_at AS "createdAt"
FROM webhooks WHERE id = $1 AND deleted_at IS NULL;

-- FINISH, prepared as closings.finish
SELECT finish_closing($1::bigint, $2::integer) AS removed;

-- FORGET_COUNTS
DELETE FROM attempt_counts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM attempt_counts WHERE at < now() - retention_days() * interval '24 hours'
  ORDER BY at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_ERASURES
DELETE FROM erasures WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM erasures WHERE completed_at < now() - retention_days() * interval '24 hours'
  ORDER BY completed_at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_LOADS
DELETE FROM account_loads WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM account_loads WHERE at < now() - retention_days() * interval '24 hours'
  ORDER BY at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_LOSSES
DELETE FROM webhook_losses WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM webhook_losses WHERE at < now() - 2 * interval '24 hours'
  ORDER BY at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_PARTS, prepared as replays.forget_parts
DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM replay_parts WHERE replay_id = ANY ($1::uuid[])
  ORDER BY replay_id, webhook_id LIMIT 1000 FOR UPDATE SKIP LOCKED
));

-- FORGET_RECOVERIES
DELETE FROM recoveries WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM recoveries WHERE visited_at < now() - retention_days() * interval '24 hours'
  ORDER BY visited_at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_REPLAYS
DELETE FROM replays WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM replays WHERE completed_at < now() - retention_days() * interval '24 hours'
  ORDER BY completed_at LIMIT $1::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1;

-- FORGET_WEBHOOKS, prepared as webhooks.forget
SELECT forget_webhooks(retention_days(), $1::integer) AS count;

-- FREE_KEYS
WITH alone AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(7770002, 'events'::regclass::integer) AS mine
),
page AS MATERIALIZED (
  SELECT id, account_id, event, producer_id FROM events
  WHERE (SELECT mine FROM alone) AND id > $1::uuid AND id < $2::uuid
  ORDER BY id LIMIT $3::integer
),
freed AS (
  DELETE FROM event_keys k USING page p
  WHERE k.producer_id = p.producer_id AND k.account_id = p.account_id AND k.event = p.event
    AND k.event_id = p.id
)
SELECT mine, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last FROM alone;

-- HAS_SUCCEEDED, prepared as pending.has-succeeded
SELECT FROM webhook_successes WHERE webhook_id = $1;

-- HAVE_EARLIER(…), prepared as pending.have-earlier.20454
SELECT w.id FROM unnest((SELECT $1::bigint[])) AS w(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries WHERE webhook_id = w.id AND state = 'pending' AND (NOT immediate OR resumes_at IS NOT NULL) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  ORDER BY next_attempt_at LIMIT 1
) earlier;

-- IS_HOLDING, prepared as replays.is_holding
SELECT coalesce((
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ), false) AS "isHolding";

-- KEPT_DAYS, prepared as retention.days
SELECT retention_days() AS days;

-- LIST_ATTEMPTS
SELECT delivery_id AS "deliveryId", number, at, duration_ms AS "durationMs", status, error, address,
  response_headers::json AS "responseHeaders", response_body AS "responseBody", truncated, sent
FROM attempts WHERE delivery_id = $1 AND take >= $2 AND number > $2
ORDER BY take LIMIT $3;

-- LIST_FAILING, prepared as overview.failing
SELECT id AS "webhookId", account_id AS "accountId", target_url AS "targetUrl", failures,
  failing_since AS "failingSince", open_until AS "openUntil"
FROM webhooks WHERE failing_since IS NOT NULL AND enabled AND deleted_at IS NULL
ORDER BY failing_since LIMIT $1;

-- LIST_LOSING
SELECT w.id AS "webhookId", w.account_id AS "accountId", w.target_url AS "targetUrl", l.lost, l."lastLostAt"
FROM (
  SELECT webhook_id, sum(count)::float8 AS lost, max(last_at) AS "lastLostAt"
  FROM webhook_losses WHERE at >= now() - interval '24 hours 5 minutes' AND last_at >= now() - interval '24 hours'
  GROUP BY webhook_id
) l
JOIN webhooks w ON w.id = l.webhook_id AND w.enabled AND w.deleted_at IS NULL
ORDER BY l.lost DESC, w.id LIMIT $1;

-- LIST_PARTITION_SIZES, prepared as overview.partitions
SELECT to_date(right(part.relname, 8), 'YYYYMMDD')::text AS day, parent.relname AS parent,
  pg_total_relation_size(part.oid)::float8 AS bytes
FROM pg_inherits i
JOIN pg_class part ON part.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
  AND part.relname ~ '_[0-9]{8}$';

-- LOAD(…), prepared as pending.load.20454
WITH leased AS MATERIALIZED (
  SELECT d.id, d.event_id, d.webhook_id, d.generation, d.attempts, d.takes,
    d.schedule_base, d.immediate, d.resumes_at, d.extra_attempts, d.replayed, d.created_at,
    d.claimed_until FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS j(id, lease)
  JOIN LATERAL (SELECT * FROM deliveries WHERE id = j.id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1) d
    ON d.takes = j.lease AND d.state = 'pending' AND d.claimed_until > now()
)

SELECT d.id, d.webhook_id AS "webhookId", d.attempts + 1 AS attempt, d.takes AS lease,
  d.schedule_base AS "scheduleBase", d.immediate, d.resumes_at IS NOT NULL AS "isExtra",
  coalesce(d.extra_attempts, 0) AS "extraAttempts", d.replayed, d.created_at AS "createdAt",
  now() AS "takenAt", (extract(epoch FROM d.claimed_until - now()) * 1000)::float8 AS "leaseMs",
  e.account_id AS "accountId", e.application_id AS "applicationId", e.event, e.resource,
  e.occurred_at AS "occurredAt", e.test, e.traceparent, e.data, w.backlog, w.name,
  w.target_url AS "targetUrl", w.userinfo, w.target_version AS "targetVersion", w.headers, w.payload,
  w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS "retiredSecrets",
  CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until)))
    END AS health
FROM leased d
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true
WHERE NOT (NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation) AND (d.immediate OR NOT (((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) OR (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered)));

-- LOCK_EVENT
SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data, added
FROM events WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2) FOR NO KEY UPDATE;

-- LOOK(…), prepared as pending.look.20454
WITH RECURSIVE step AS (
  (SELECT webhook_id, next_attempt_at, 1 AS number FROM deliveries
   WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND webhook_id > $1::bigint
   ORDER BY webhook_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.next_attempt_at, step.number + 1
  FROM step CROSS JOIN LATERAL (
    SELECT webhook_id, next_attempt_at FROM deliveries
    WHERE state = 'pending' AND webhook_id > step.webhook_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY webhook_id, next_attempt_at LIMIT 1
  ) next
  WHERE step.number < $2::integer
)
SELECT s.number, s.webhook_id AS "webhookId", w.account_id AS "accountId", (extract(epoch FROM greatest(s.next_attempt_at, w.hold_until, w.open_until, w.paced_until,
    CASE WHEN w.ordered THEN (
      SELECT greatest(not_before, claimed_until) FROM deliveries
      WHERE webhook_id = s.webhook_id AND state = 'pending' AND next_attempt_at >= s.next_attempt_at
        AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
      ORDER BY next_attempt_at, id LIMIT 1
    ) END) - now()) * 1000)::float8 AS "dueInMs",
  (extract(epoch FROM s.next_attempt_at - now()) * 1000)::float8 AS "oldestInMs", w.open_until IS NOT NULL AS probe, false AS immediate,
  CASE WHEN w.ordered THEN 'order' WHEN w.max_concurrent IS NOT NULL THEN 'concurrency'
    WHEN w.max_per_second IS NOT NULL THEN 'rate' END AS pace
FROM step s
LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON w.enabled AND w.deleted_at IS NULL AND NOT w.paused
UNION ALL
-- Tests, and what customers send at once: never blocked.
(SELECT 0, d.webhook_id, d.account_id, 0, '-Infinity', false, true, NULL FROM deliveries d
 WHERE d.state = 'pending' AND d.immediate AND d.next_attempt_at <= now() AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
   AND (d.not_before IS NULL OR d.not_before <= now())
 LIMIT $2::integer);

-- LOOK_AT_SUBSCRIPTIONS
SELECT w.id, w.account_id AS "accountId", w.effect, w.open_until IS NOT NULL AS "isOpen",
  w.disabled_at AS "disabledAt", w.cancelling,
  (w.enabled OR w.effect IS NOT NULL) AND (
    SELECT coalesce(sum(CASE WHEN outcome = ANY ('{dns,refused,reset,timeout}') THEN count ELSE -count END), 0) > 0
    FROM attempt_counts
    WHERE account_id = w.account_id AND webhook_id = w.id AND outcome <> '2xx'
      -- Its rows have the beginning of their five minutes.
      AND at > $1::timestamptz - make_interval(secs => 300) AND at < $2::timestamptz
  ) AS "isAffected"
FROM (
  SELECT *, CASE
    WHEN w.enabled AND coalesce(w.opened_at, w.failing_since) >= $1::timestamptz
      AND coalesce(w.opened_at, w.failing_since) < $2::timestamptz THEN 'healed'
    WHEN NOT w.enabled AND w.disabled_reason = 'failing' AND w.disabled_at >= $1::timestamptz AND w.disabled_at < $2::timestamptz
      THEN 'switched_on'
  END AS effect FROM webhooks w
  WHERE id > $3::bigint AND deleted_at IS NULL
  ORDER BY id LIMIT 50
) w
ORDER BY w.id;

-- MARK_BACKLOG, prepared as pending.mark-backlog
UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
  SELECT id FROM webhooks
  WHERE id = ANY ($1::bigint[]) AND backlog <> true
  FOR NO KEY UPDATE SKIP LOCKED
));

-- NEWEST_MIGRATION, prepared as overview.migration
SELECT name FROM migrations ORDER BY id DESC LIMIT 1;

-- NEXT_CANCELLING, prepared as canceller.next
SELECT id, w.cancelling AND greatest(w.updated_at, w.deleted_at) < now() - interval '1 minute' AS "mayEnd" FROM webhooks w WHERE cancelling AND id > $1::bigint
ORDER BY id LIMIT 200;

-- NEXT_ERASURE, prepared as erasures.next
SELECT id, account_id AS "accountId", contains, since, until, after FROM erasures
WHERE completed_at IS NULL ORDER BY advanced_at LIMIT 1;

-- NEXT_PARTS, prepared as replays.next_parts
WITH RECURSIVE account AS (
  SELECT account_id, 1 AS number FROM (
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE account_id > $1::bigint
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  ) first
  UNION ALL
  SELECT next.account_id, account.number + 1
  FROM account CROSS JOIN LATERAL (
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE account_id > account.account_id
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  ) next
  WHERE account.number < 50
),
part AS (
  SELECT first.*, 1 AS number
  FROM account a LEFT JOIN unnest($2::bigint[], $3::bigint[]) AS seen(account_id, after)
      ON seen.account_id = a.account_id
    CROSS JOIN LATERAL (
      SELECT * FROM (
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE account_id BETWEEN a.account_id AND a.account_id AND webhook_id > seen.after
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  ) further
      UNION ALL SELECT * FROM (
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE account_id BETWEEN a.account_id AND a.account_id
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  ) again
      LIMIT 1
    ) first
  UNION ALL
  SELECT next.*, part.number + 1 FROM part CROSS JOIN LATERAL (
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE account_id BETWEEN part.account_id AND part.account_id AND webhook_id > part.webhook_id
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  ) next
  WHERE part.number < 200
)
SELECT p.replay_id AS id, p.account_id AS "accountId", p.webhook_id AS "webhookId", p.after, r.states, r.until, r.missed,
  r.event, r.application_id AS "applicationId", r.status,
  CASE WHEN r.recovery_id IS NOT NULL THEN r.since END AS "recoveredSince",
  CASE
    WHEN r.state IS DISTINCT FROM 'running' THEN 'ended'
    WHEN w.id IS NULL OR NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> p.generation THEN 'over'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) THEN 'waits'
    ELSE 'ready'
  END AS fate
FROM part p
  -- Looks each one up, because the planner would read all replays and subscriptions to join them.
  LEFT JOIN LATERAL (SELECT * FROM replays WHERE id = p.replay_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = p.webhook_id LIMIT 1) w ON true
ORDER BY p.account_id, p.webhook_id;

-- NEXT_RECOVERY, prepared as recoveries.next
SELECT id, since, until, after FROM recoveries WHERE visited_at IS NULL;

-- OLDEST_DUE(…), prepared as pending.oldest-due.20454
WITH RECURSIVE step AS (
  (SELECT webhook_id, next_attempt_at, 1 AS number FROM deliveries
   WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) 
   ORDER BY webhook_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.next_attempt_at, step.number + 1
  FROM step CROSS JOIN LATERAL (
    SELECT webhook_id, next_attempt_at FROM deliveries
    WHERE state = 'pending' AND webhook_id > step.webhook_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY webhook_id, next_attempt_at LIMIT 1
  ) next
  
)
SELECT max(-(extract(epoch FROM greatest(s.next_attempt_at, w.hold_until, w.open_until, w.paced_until,
    CASE WHEN w.ordered THEN (
      SELECT greatest(not_before, claimed_until) FROM deliveries
      WHERE webhook_id = s.webhook_id AND state = 'pending' AND next_attempt_at >= s.next_attempt_at
        AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
      ORDER BY next_attempt_at, id LIMIT 1
    ) END) - now()) * 1000)::float8) AS "ageMs"
FROM step s JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON w.enabled AND w.deleted_at IS NULL AND NOT w.paused;

-- OLD_PARTITIONS
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
WHERE day <= to_char((now() AT TIME ZONE 'UTC')::date - retention_days() - $1::integer, 'YYYYMMDD')
ORDER BY day, array_position(ARRAY['deliveries', 'attempts', 'events']::name[], parent);

-- OWNS_APPLICATION, prepared as replays.owns_application
SELECT FROM applications WHERE id = $1 AND user_id = $2;

-- PROBE, prepared as pending.probe
UPDATE webhooks w
SET open_until = now() + make_interval(secs => (coalesce((NULL::jsonb ->> 'timeoutMs')::float8, $1::float8) + 15000) / 1000)
WHERE w.id = ANY (ARRAY(
  SELECT id FROM webhooks WHERE id = ANY ($2::bigint[]) AND open_until <= now()
  FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING w.id;

-- RAISE_FEED_CLOCK, prepared as feed.raise-clock
SELECT raise_feed_clock()::text AS micros;

-- READ_ACTIVITY
SELECT w.id, c.succeeded, c.failed, d.created_at AS "lastDeliveryAt",
  -- The stored time is about ten seconds old.
  greatest(s.at, CASE WHEN d.state = 'succeeded' THEN d.completed_at END) AS "lastSuccessAt"
FROM unnest($1::bigint[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT coalesce(sum(count) FILTER (WHERE outcome = '2xx'), 0)::float8 AS succeeded,
    coalesce(sum(count) FILTER (WHERE outcome <> '2xx'), 0)::float8 AS failed
  FROM attempt_counts
  WHERE account_id = $2 AND webhook_id = w.id AND at >= $3::timestamptz
) c
LEFT JOIN LATERAL (
  SELECT created_at, state, completed_at FROM deliveries
  WHERE webhook_id BETWEEN w.id AND w.id AND id >= $4::uuid AND id < $5::uuid
  ORDER BY webhook_id DESC, id DESC LIMIT 1
) d ON true
LEFT JOIN webhook_successes s ON s.webhook_id = w.id;

-- READ_COUNTS, prepared as attempt-counts.read
SELECT (extract(epoch FROM start - $1::timestamptz) / $2::integer)::integer AS bucket,
  outcome, bin, count::float8
FROM (
  SELECT date_bin(make_interval(secs => $2::integer), at, $3::timestamptz) AS start,
    outcome, bin, sum(count) AS count
  FROM attempt_counts
  WHERE account_id = $4 AND webhook_id = $5
    AND at >= $3::timestamptz AND at < $6::timestamptz
  GROUP BY 1, 2, 3
) c;

-- READ_LOSSES
SELECT w.id, l.* FROM unnest($1::bigint[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT sum(count)::float8 AS lost, max(last_at) AS "lastLostAt"
  FROM webhook_losses WHERE webhook_id = w.id AND at >= now() - interval '24 hours 5 minutes' AND last_at >= now() - interval '24 hours'
) l
WHERE l.lost > 0;

-- RECORD(…), prepared as pending.record.20454
WITH
clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
-- Skips locked rows; the caller retries them separately.
found AS MATERIALIZED (
  SELECT d.id, d.erased FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS j(id, lease)
  JOIN LATERAL (
    SELECT id, webhook_id, erased FROM deliveries WHERE id = j.id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true
),
-- Logs every attempt, even if it is too late to change its delivery.
logged AS (
  INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, error, address,
    response_headers, response_body, truncated, sent, worker)
  SELECT a.id, a.lease, a.number, a.at, a.duration_ms, a.status, a.error, a.address,
    CASE WHEN a.id <> ALL (ARRAY(SELECT id FROM found WHERE erased)) THEN a.headers END, CASE WHEN a.id <> ALL (ARRAY(SELECT id FROM found WHERE erased)) THEN a.body END, a.truncated, a.sent, $3::text
  FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[]), (SELECT $4::integer[]), (SELECT $5::timestamptz[]), (SELECT $6::integer[]), (SELECT $7::integer[]), (SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::text[]), (SELECT $12::boolean[]), (SELECT $13::text[]))
    AS a(id, lease, number, at, duration_ms, status, error, address, headers, body, truncated,
      sent)
  WHERE a.id = ANY (ARRAY(SELECT id FROM found))
  -- It was already recorded by a statement whose answer got lost.
  ON CONFLICT DO NOTHING
),
-- Finishes the delivery or schedules its next attempt, and ends the lease.
recorded AS (
  UPDATE deliveries d
  SET attempts = greatest(d.attempts, ($4::integer[])[width_bucket(d.id, $1::uuid[])]),
    -- A late success does not end the lease of another worker, which may be sending it.
    claimed_until = CASE WHEN d.takes <> ($2::integer[])[width_bucket(d.id, $1::uuid[])] THEN d.claimed_until END,
    state = CASE WHEN (d.state = 'succeeded' OR d.state = 'cancelled' AND ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded') THEN d.state ELSE CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END END,
    reason = CASE WHEN (d.state = 'succeeded' OR d.state = 'cancelled' AND ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded') THEN d.reason ELSE CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($17::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($18::text[])[width_bucket(d.id, $1::uuid[])] END END,
    next_attempt_at = CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($19::boolean[])[width_bucket(d.id, $1::uuid[])]) AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.created_at ELSE CASE
      WHEN d.state <> 'succeeded' AND CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END = 'pending'
        THEN greatest(((SELECT utc FROM clock) + make_interval(secs => CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($20::float8[])[width_bucket(d.id, $1::uuid[])] ELSE ($21::float8[])[width_bucket(d.id, $1::uuid[])] END / 1000)) AT TIME ZONE 'UTC', CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($19::boolean[])[width_bucket(d.id, $1::uuid[])]) THEN d.resumes_at END)
    END END,
    not_before = CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($19::boolean[])[width_bucket(d.id, $1::uuid[])]) AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN CASE
      WHEN d.state <> 'succeeded' AND CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END = 'pending'
        THEN greatest(((SELECT utc FROM clock) + make_interval(secs => CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($20::float8[])[width_bucket(d.id, $1::uuid[])] ELSE ($21::float8[])[width_bucket(d.id, $1::uuid[])] END / 1000)) AT TIME ZONE 'UTC', CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($19::boolean[])[width_bucket(d.id, $1::uuid[])]) THEN d.resumes_at END)
    END END,
    -- A request to send it at once has had its attempt.
    immediate = false,
    resumes_at = NULL,
    extra_attempts = CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($19::boolean[])[width_bucket(d.id, $1::uuid[])]) AND d.attempts < ($4::integer[])[width_bucket(d.id, $1::uuid[])] THEN coalesce(d.extra_attempts, 0) + 1 ELSE d.extra_attempts END,
    completed_at = CASE
      WHEN d.state = 'succeeded' THEN d.completed_at
      WHEN CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END <> 'pending' OR d.state = 'cancelled' THEN (SELECT at FROM clock)
    END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND (
    d.takes = ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND (d.state = 'succeeded'
      OR d.state IN ('pending', 'cancelled') AND (d.attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])] - 1
        -- A late attempt was counted with the same number.
        OR d.attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])] AND d.claimed_until IS NOT NULL))
    OR ($14::text[])[width_bucket(d.id, $1::uuid[])] = 'succeeded' AND ($4::integer[])[width_bucket(d.id, $1::uuid[])] > d.schedule_base
      AND d.state <> 'succeeded'
  )
),
counted AS (
  UPDATE deliveries d SET attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])]
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND (d.takes <> ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND d.attempts < ($4::integer[])[width_bucket(d.id, $1::uuid[])]
    AND (d.state = 'succeeded' OR ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded'))
)
SELECT id FROM found;

-- RECORD_PLACE(…), prepared as pending.record-place.20454
WITH
clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
-- Skips locked rows; the caller retries them separately.
found AS MATERIALIZED (
  SELECT d.id, d.erased, w.id AS webhook_id, d.id || ' ' || j.lease AS place FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS j(id, lease)
  JOIN LATERAL (
    SELECT id, webhook_id, erased FROM deliveries WHERE id = j.id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true
  LEFT JOIN LATERAL (
    SELECT id FROM webhooks WHERE id = d.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w ON true
),
freed AS (
  UPDATE webhooks w
  SET in_flight = w.in_flight - ARRAY(SELECT place FROM found WHERE webhook_id = w.id)
  WHERE w.id = ANY (ARRAY(SELECT webhook_id FROM found)) AND w.in_flight IS NOT NULL
),
-- Logs every attempt, even if it is too late to change its delivery.
logged AS (
  INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, error, address,
    response_headers, response_body, truncated, sent, worker)
  SELECT a.id, a.lease, a.number, a.at, a.duration_ms, a.status, a.error, a.address,
    CASE WHEN a.id <> ALL (ARRAY(SELECT id FROM found WHERE erased)) THEN a.headers END, CASE WHEN a.id <> ALL (ARRAY(SELECT id FROM found WHERE erased)) THEN a.body END, a.truncated, a.sent, $3::text
  FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[]), (SELECT $4::integer[]), (SELECT $5::timestamptz[]), (SELECT $6::integer[]), (SELECT $7::integer[]), (SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::text[]), (SELECT $12::boolean[]), (SELECT $13::text[]))
    AS a(id, lease, number, at, duration_ms, status, error, address, headers, body, truncated,
      sent)
  WHERE a.id = ANY (ARRAY(SELECT id FROM found))
  -- It was already recorded by a statement whose answer got lost.
  ON CONFLICT DO NOTHING
),
-- Finishes the delivery or schedules its next attempt, and ends the lease.
recorded AS (
  UPDATE deliveries d
  SET attempts = greatest(d.attempts, ($4::integer[])[width_bucket(d.id, $1::uuid[])]),
    -- A late success does not end the lease of another worker, which may be sending it.
    claimed_until = CASE WHEN d.takes <> ($2::integer[])[width_bucket(d.id, $1::uuid[])] THEN d.claimed_until END,
    state = CASE WHEN (d.state = 'succeeded' OR d.state = 'cancelled' AND ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded') THEN d.state ELSE CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END END,
    reason = CASE WHEN (d.state = 'succeeded' OR d.state = 'cancelled' AND ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded') THEN d.reason ELSE CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($17::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($18::text[])[width_bucket(d.id, $1::uuid[])] END END,
    next_attempt_at = CASE WHEN (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.created_at ELSE CASE
      WHEN d.state <> 'succeeded' AND CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END = 'pending'
        THEN greatest(((SELECT utc FROM clock) + make_interval(secs => CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($19::float8[])[width_bucket(d.id, $1::uuid[])] ELSE ($20::float8[])[width_bucket(d.id, $1::uuid[])] END / 1000)) AT TIME ZONE 'UTC', CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($21::boolean[])[width_bucket(d.id, $1::uuid[])]) THEN d.resumes_at END)
    END END,
    not_before = CASE WHEN (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN CASE
      WHEN d.state <> 'succeeded' AND CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END = 'pending'
        THEN greatest(((SELECT utc FROM clock) + make_interval(secs => CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($19::float8[])[width_bucket(d.id, $1::uuid[])] ELSE ($20::float8[])[width_bucket(d.id, $1::uuid[])] END / 1000)) AT TIME ZONE 'UTC', CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($21::boolean[])[width_bucket(d.id, $1::uuid[])]) THEN d.resumes_at END)
    END END,
    -- A request to send it at once has had its attempt.
    immediate = false,
    resumes_at = NULL,
    extra_attempts = CASE WHEN (d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] AND ($21::boolean[])[width_bucket(d.id, $1::uuid[])]) AND d.attempts < ($4::integer[])[width_bucket(d.id, $1::uuid[])] THEN coalesce(d.extra_attempts, 0) + 1 ELSE d.extra_attempts END,
    completed_at = CASE
      WHEN d.state = 'succeeded' THEN d.completed_at
      WHEN CASE WHEN d.schedule_base = ($15::integer[])[width_bucket(d.id, $1::uuid[])] THEN ($14::text[])[width_bucket(d.id, $1::uuid[])] ELSE ($16::text[])[width_bucket(d.id, $1::uuid[])] END <> 'pending' OR d.state = 'cancelled' THEN (SELECT at FROM clock)
    END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND (
    d.takes = ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND (d.state = 'succeeded'
      OR d.state IN ('pending', 'cancelled') AND (d.attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])] - 1
        -- A late attempt was counted with the same number.
        OR d.attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])] AND d.claimed_until IS NOT NULL))
    OR ($14::text[])[width_bucket(d.id, $1::uuid[])] = 'succeeded' AND ($4::integer[])[width_bucket(d.id, $1::uuid[])] > d.schedule_base
      AND d.state <> 'succeeded'
  )
),
counted AS (
  UPDATE deliveries d SET attempts = ($4::integer[])[width_bucket(d.id, $1::uuid[])]
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid) AND (d.takes <> ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND d.attempts < ($4::integer[])[width_bucket(d.id, $1::uuid[])]
    AND (d.state = 'succeeded' OR ($14::text[])[width_bucket(d.id, $1::uuid[])] <> 'succeeded'))
)
SELECT id FROM found WHERE webhook_id IS NOT NULL;

-- RECOVER, prepared as recoveries.recover
SELECT told_by AS "toldBy"
FROM recover_webhook($1::uuid, $2::bigint, $3::integer, $4::integer) AS told_by;

-- REDELIVER
WITH lease AS MATERIALIZED (
  SELECT w.generation, w.ordered, now() AS at, CASE WHEN $1::boolean AND (NOT w.backlog AND w.open_until IS NULL AND NOT (w.paused OR coalesce(w.hold_until > now(), false)) AND NOT (w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered)) THEN now() + make_interval(secs => (coalesce((w.retry ->> 'timeoutMs')::float8, $2::float8) + 15000) / 1000) END AS ends
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.id = $3 AND w.enabled AND w.deleted_at IS NULL
    AND (d.state <> 'pending' OR d.generation < w.generation) AND d.erased IS NULL
    -- A cancelled delivery may still have an attempt in flight.
    AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now())
  FOR NO KEY UPDATE OF d
)
UPDATE deliveries d
SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
  immediate = false, replayed = false, resumes_at = NULL, extra_attempts = NULL,
  generation = lease.generation,
  -- In an ordered subscription, it keeps its place, and so comes before later ones.
  next_attempt_at = CASE WHEN lease.ordered THEN d.created_at ELSE coalesce(lease.ends, lease.at) END,
  not_before = NULL, claimed_until = lease.ends,
  takes = d.takes + (lease.ends IS NOT NULL)::integer
FROM lease WHERE d.id = $3
RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate, claimed_until IS NOT NULL AS queued;

-- RELEASE(…), prepared as pending.release.20454
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
found AS MATERIALIZED (
  SELECT d.id, d.erased FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS j(id, lease)
  JOIN LATERAL (
    SELECT id, webhook_id, erased FROM deliveries WHERE id = j.id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true
),
released AS (
  UPDATE deliveries d
  SET claimed_until = NULL, next_attempt_at = CASE WHEN d.resumes_at IS NOT NULL AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.next_attempt_at ELSE ((SELECT utc FROM clock) + make_interval(secs => ($3::float8[])[width_bucket(d.id, $1::uuid[])] / 1000) - greatest(interval '0', (SELECT at FROM clock) - d.claimed_until + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $4::float8) + 15000) / 1000))) AT TIME ZONE 'UTC' END,
    not_before = CASE WHEN d.resumes_at IS NOT NULL AND (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN ((SELECT utc FROM clock) + make_interval(secs => ($3::float8[])[width_bucket(d.id, $1::uuid[])] / 1000) - greatest(interval '0', (SELECT at FROM clock) - d.claimed_until + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $4::float8) + 15000) / 1000))) AT TIME ZONE 'UTC' ELSE d.not_before END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    AND d.takes = ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND d.claimed_until IS NOT NULL
    AND d.state IN ('pending', 'cancelled')
)
SELECT id FROM found;

-- RELEASE_PLACE(…), prepared as pending.release-place.20454
WITH clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc),
found AS MATERIALIZED (
  SELECT d.id, d.erased, w.id AS webhook_id, d.id || ' ' || j.lease AS place FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS j(id, lease)
  JOIN LATERAL (
    SELECT id, webhook_id, erased FROM deliveries WHERE id = j.id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true
  LEFT JOIN LATERAL (
    SELECT id FROM webhooks WHERE id = d.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w ON true
),
freed AS (
  UPDATE webhooks w
  SET in_flight = w.in_flight - ARRAY(SELECT place FROM found WHERE webhook_id = w.id)
  WHERE w.id = ANY (ARRAY(SELECT webhook_id FROM found)) AND w.in_flight IS NOT NULL
),
released AS (
  UPDATE deliveries d
  SET claimed_until = NULL, next_attempt_at = CASE WHEN (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN d.created_at ELSE ((SELECT utc FROM clock) + make_interval(secs => ($3::float8[])[width_bucket(d.id, $1::uuid[])] / 1000) - greatest(interval '0', (SELECT at FROM clock) - d.claimed_until + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $4::float8) + 15000) / 1000))) AT TIME ZONE 'UTC' END,
    not_before = CASE WHEN (SELECT ordered FROM webhooks WHERE id = d.webhook_id) THEN ((SELECT utc FROM clock) + make_interval(secs => ($3::float8[])[width_bucket(d.id, $1::uuid[])] / 1000) - greatest(interval '0', (SELECT at FROM clock) - d.claimed_until + make_interval(secs => (coalesce(((SELECT retry FROM webhooks WHERE id = d.webhook_id) ->> 'timeoutMs')::float8, $4::float8) + 15000) / 1000))) AT TIME ZONE 'UTC' END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    AND d.takes = ($2::integer[])[width_bucket(d.id, $1::uuid[])] AND d.claimed_until IS NOT NULL
    AND d.state IN ('pending', 'cancelled')
)
SELECT id FROM found WHERE webhook_id IS NOT NULL;

-- REMOVE_DATA, prepared as closings.remove-data
SELECT seen, last
FROM remove_data_of_account($1::bigint, $2::text, $3::uuid, $4::uuid, $5::integer);

-- REPLACE_KEY
UPDATE webhooks SET secret = $1, public_key = $2, retired_secrets = coalesce((
  SELECT jsonb_agg(retired ORDER BY place)
  FROM jsonb_array_elements(
    jsonb_build_array(jsonb_build_object(
      'secret', secret, 'until', now() + make_interval(hours => $3)
    )) || retired_secrets
  ) WITH ORDINALITY AS r(retired, place)
  WHERE (retired ->> 'until')::timestamptz > now() AND place <= 10
    AND retired ->> 'secret' <> ALL ($4::text[])
), '[]')
WHERE id = $5;

-- REPLAYED_SUBSCRIPTIONS
SELECT w.id, coalesce(p.remaining, 0) AS remaining, w.paused, coalesce(w.hold_until > now(), false) AS "isRetryLater",
    CASE WHEN w.open_until > now() THEN 'open' WHEN w.open_until IS NOT NULL THEN 'half-open' ELSE 'closed' END AS circuit,
    w.max_per_second AS "maxPerSecond", w.max_concurrent AS "maxConcurrent", w.ordered,
    w.pace_waits OR (w.ordered AND w.failing_since IS NOT NULL) AS "paceWaits", EXISTS (SELECT FROM replay_parts o WHERE o.account_id = w.account_id AND o.webhook_id = w.id AND o.replay_id < r.id) AS "isBehind"
FROM webhooks w JOIN replays r ON r.id = $1
  LEFT JOIN replay_parts p ON p.replay_id = r.id AND p.webhook_id = w.id AND p.generation = w.generation
    AND r.state = 'running'
WHERE w.account_id = $2 AND w.enabled AND w.deleted_at IS NULL
  AND ($3::bigint IS NULL OR w.id = $3)
ORDER BY p.replay_id IS NULL, w.id LIMIT 100;

-- SEND_NOW
WITH lease AS MATERIALIZED (
  SELECT w.ordered, (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AS is_leased, now() AS at, CASE WHEN $1::boolean AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN now() + make_interval(secs => (coalesce((w.retry ->> 'timeoutMs')::float8, $2::float8) + 15000) / 1000) END AS ends
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.id = $3 AND d.state = 'pending' AND w.enabled AND w.deleted_at IS NULL
    AND d.generation >= w.generation
  FOR NO KEY UPDATE OF d
)
UPDATE deliveries d
SET immediate = true,
  -- A test has no schedule that could go on.
  resumes_at = CASE WHEN d.immediate THEN d.resumes_at
    ELSE coalesce(d.resumes_at, greatest(d.next_attempt_at, d.not_before)) END,
  -- In an ordered subscription, it keeps its place, and those behind it wait.
  next_attempt_at = CASE WHEN lease.is_leased OR lease.ordered THEN d.next_attempt_at
    ELSE coalesce(lease.ends, lease.at) END,
  not_before = NULL,
  claimed_until = CASE WHEN lease.is_leased THEN d.claimed_until ELSE lease.ends END,
  takes = d.takes + (lease.ends IS NOT NULL)::integer
FROM lease WHERE d.id = $3
RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate, lease.ends IS NOT NULL AS queued;

-- START_ERASURE
INSERT INTO erasures (id, account_id, contains, since, until, after)
SELECT new_uuid(now(), 1), $1::bigint, $2::text, $3::timestamptz,
  least($4::timestamptz, now()), least_uuid(coalesce($3::timestamptz, 'epoch'))
WHERE 20 > (
  SELECT count(*) FROM erasures WHERE completed_at IS NULL AND account_id IS NOT DISTINCT FROM $1::bigint
)
RETURNING id;

-- START_RECOVERY
INSERT INTO recoveries (id, since, until, user_id, address, request_id)
VALUES (new_uuid(now(), 1), $1::timestamptz, $2::timestamptz, $3::bigint, $4::text, $5::text)
ON CONFLICT DO NOTHING
RETURNING id;

-- START_REPLAY
WITH replay AS (
  INSERT INTO replays (id, webhook_id, account_id, since, until, states, event,
    application_id, status, missed, total, left_off, left_deleted, left_tests, left_erased, parts, state, completed_at)
  SELECT new_uuid(now(), 1), $1::bigint, $2::bigint, $3::timestamptz,
    $4::timestamptz, $5::text[], $6::text, $7::bigint, $8::text,
    $9::boolean, $10::integer, $11::integer, $12::integer, $13::integer, $14::integer,
    cardinality($15::bigint[]),
    CASE cardinality($15) WHEN 0 THEN 'completed' ELSE 'running' END,
    CASE cardinality($15) WHEN 0 THEN now() END
  WHERE ($1::bigint IS NULL
      OR EXISTS (SELECT FROM webhooks WHERE id = $1 AND enabled AND deleted_at IS NULL))
    AND (SELECT count(*) FROM replays WHERE (recovery_id IS NULL AND ((webhook_id = $1::bigint AND NOT (missed AND event IS NOT NULL))
    OR $1::bigint IS NULL AND webhook_id IS NULL AND account_id = $2::bigint)) AND state = 'running') < 10
  RETURNING id
),
parts AS (
  INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after, remaining)
  SELECT replay.id, $2, p.webhook_id, p.generation, $16::uuid, p.remaining
  FROM replay,
    unnest($15::bigint[], $17::integer[], $18::integer[]) AS p(webhook_id, generation, remaining)
)
SELECT id FROM replay;

-- SUBSCRIPTIONS
SELECT id, generation, enabled, w.paused, coalesce(w.hold_until > now(), false) AS "isRetryLater",
    CASE WHEN w.open_until > now() THEN 'open' WHEN w.open_until IS NOT NULL THEN 'half-open' ELSE 'closed' END AS circuit,
    w.max_per_second AS "maxPerSecond", w.max_concurrent AS "maxConcurrent", w.ordered,
    w.pace_waits OR (w.ordered AND w.failing_since IS NOT NULL) AS "paceWaits",
     EXISTS (SELECT FROM replay_parts p WHERE p.account_id = w.account_id AND p.webhook_id = w.id) AS "isBehind"
   FROM webhooks w
   WHERE account_id = $1 AND deleted_at IS NULL
     AND ($2::bigint IS NULL OR id = $2) AND id > $3
   ORDER BY id LIMIT 100;

-- SUM_LOADS
SELECT account_id AS "accountId", sum(reported)::float8 AS reported, sum(delivered)::float8 AS delivered,
  sum(failed)::float8 AS failed, sum(busy_ms)::float8 AS "busyMs"
FROM account_loads WHERE at >= $1::timestamptz AND at < $2::timestamptz
GROUP BY account_id;

-- WRITE_SECRETS
UPDATE webhooks w
SET userinfo = n.userinfo, headers = n.headers::json, secret = n.secret,
  retired_secrets = n.retired_secrets::jsonb
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
  AS n(id, userinfo, headers, secret, retired_secrets)
WHERE w.id = n.id;

-- areFew("cancelled",{"first":20454,"last":20455})
SELECT (SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = $1 AND state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LIMIT 10001
) counted) + (SELECT count(*) FROM (
  SELECT FROM deliveries WHERE webhook_id = $1 AND state IN ('exhausted', 'cancelled') AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LIMIT 10001
) counted) <= 10000 AS few;

-- cancelOutdated(…)
WITH off AS (
  SELECT id, generation, CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END AS reason
  FROM webhooks w WHERE id = ANY ($1::bigint[]) AND cancelling
),
outdated AS (
  SELECT d.id, off.generation, off.reason FROM off CROSS JOIN LATERAL (
    SELECT id FROM deliveries
    WHERE webhook_id = off.id AND state = 'pending' AND generation < off.generation
      AND (claimed_until IS NULL OR claimed_until <= now()) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    -- The order of the index on pending rows, so that the planner prefers no other index.
    ORDER BY next_attempt_at LIMIT $2::integer
  ) d
  LIMIT $2::integer
),
-- Checked again once locked: it may have been leased, or redelivered under the present generation.
locked AS MATERIALIZED (
  SELECT d.id, o.reason FROM outdated o
  JOIN LATERAL (SELECT * FROM deliveries WHERE id = ANY (array_append('{}'::uuid[], o.id)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT 1 FOR UPDATE SKIP LOCKED) d ON d.id = o.id
  WHERE d.state = 'pending' AND d.generation < o.generation AND (claimed_until IS NULL OR claimed_until <= now())
),
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', reason = l.reason, completed_at = now(), claimed_until = NULL
  FROM locked l WHERE d.id = l.id AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  RETURNING d.webhook_id, d.reason
),
lost AS (
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, date_bin(interval '300 s', now(), 'epoch'), count, now() FROM (
  SELECT webhook_id, count(*) AS count FROM cancelled
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)
)
SELECT webhook_id AS "webhookId" FROM cancelled;

-- continueReplay(…)
WITH
-- Only if no other worker has advanced the replay and it may still continue: a subscription's replays wait for each
-- other, whether they are of it alone or of its account.
job AS MATERIALIZED (
  SELECT r.id, r.states, w.id AS target, w.generation AS present, w.ordered, now() AS at
  FROM replays r JOIN replay_parts p ON p.replay_id = r.id
    JOIN webhooks w ON w.id = p.webhook_id
  WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL
    AND w.generation = p.generation
    AND NOT ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false))
    AND NOT EXISTS (SELECT FROM replay_parts o WHERE o.account_id = w.account_id AND o.webhook_id = w.id AND o.replay_id < r.id)
    AND r.id = $1 AND w.id = $2 AND p.after = $3
  FOR UPDATE OF r, p SKIP LOCKED
),
-- Skips deliveries whose state has changed since they were found.
chosen AS MATERIALIZED (
  SELECT d.id, d.state, job.present, job.ordered, job.at FROM job CROSS JOIN unnest($4::uuid[]) AS n(id)
  JOIN LATERAL (SELECT * FROM deliveries WHERE id = ANY (array_append('{}'::uuid[], n.id)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT 1 FOR UPDATE) d ON d.id = n.id
  WHERE d.state = ANY (job.states) AND (d.state <> 'pending' OR d.generation = job.present)
    AND d.erased IS NULL
),
-- Restarts each schedule under the subscription's present generation.
started AS (
  UPDATE deliveries d
  SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
    immediate = false, replayed = true, resumes_at = NULL, extra_attempts = NULL,
    generation = c.present,
    -- If a cancelled delivery still has an attempt in flight, that one is its first.
    next_attempt_at = CASE WHEN c.ordered THEN d.created_at ELSE greatest(d.claimed_until, c.at) END,
    not_before = NULL,
    claimed_until = CASE WHEN d.claimed_until > c.at THEN d.claimed_until END
  FROM chosen c WHERE c.state <> 'pending' AND d.id = c.id AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
),
-- Those that are due, or whose attempt is about to be made, come anyway.
forwarded AS (
  UPDATE deliveries d
  SET resumes_at = coalesce(d.resumes_at, greatest(d.next_attempt_at, d.not_before)),
    next_attempt_at = CASE WHEN c.ordered THEN d.created_at ELSE c.at END, not_before = NULL
  FROM chosen c WHERE c.state = 'pending' AND d.id = c.id AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND greatest(d.next_attempt_at, d.not_before) > now() AND (d.claimed_until IS NULL OR d.claimed_until <= now())
),
-- New deliveries are sent after the replayed ones.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.target AND NOT w.backlog AND EXISTS (SELECT FROM chosen)
),
advanced AS (
  UPDATE replay_parts p SET after = $5,
    -- Others may have become exhausted in the time range meanwhile.
    remaining = greatest(p.remaining - (SELECT count(*) FROM chosen), 0)
  FROM job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND NOT $6::boolean
),
ended AS (
  DELETE FROM replay_parts p USING job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND $6
)
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM chosen),
  parts = r.parts - $6::integer,
  state = CASE WHEN $6 AND r.parts = 1 THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN $6 AND r.parts = 1 THEN job.at END
FROM job WHERE r.id = job.id
RETURNING r.id;

-- countExpiredClaims(…)
SELECT count(*)::integer AS "lookedAt",
  (count(*) FILTER (WHERE claimed_until <= now()))::integer AS expired
FROM (
  SELECT claimed_until FROM deliveries WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  ORDER BY webhook_id, next_attempt_at LIMIT 10000
) d;

-- countOf("deliveries",{"first":20454,"last":20455})
SELECT count(*)::integer AS count FROM (
  SELECT FROM deliveries WHERE account_id = $1 AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT $2::integer
) counted;

-- countOf("events",{"first":20454,"last":20455})
SELECT count(*)::integer AS count FROM (
  SELECT FROM events WHERE account_id = $1 AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT $2::integer
) counted;

-- countPending(…)
SELECT count(*)::float8 AS deliveries FROM deliveries
WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid);

-- countReplayable(…)
SELECT w.id AS "webhookId", CASE WHEN CASE WHEN d.state = 'pending' AND d.generation < w.generation THEN 'cancelled' ELSE d.state END
      = ANY ($1::text[])
    AND ($2::text IS NULL OR d.event = $2)
    AND ($3::text IS NULL OR $3 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    ))
    AND ($4::timestamptz IS NULL OR d.completed_at >= $4 AND CASE d.state
      WHEN 'exhausted' THEN d.reason = 'no_attempts_left' AND d.completed_at < $5 AND coalesce((
        SELECT error = ANY ('{dns,refused,reset,timeout}') FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ), false)
      ELSE d.reason = 'failing' END)
  THEN (
    SELECT CASE WHEN test THEN 'test' WHEN erased_at IS NOT NULL THEN 'erased' ELSE 'sent' END
    FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      AND ($6::bigint IS NULL OR application_id = $6)
    LIMIT 1
  ) END AS fate, count(*)::integer AS deliveries, max(d.id::text) AS last
FROM unnest($7::bigint[], $8::uuid[]) AS o(webhook_id, after)
  JOIN webhooks w ON w.id = o.webhook_id
  CROSS JOIN LATERAL (
    (
      SELECT id, event_id, event, state, generation, reason, completed_at FROM deliveries
      WHERE webhook_id BETWEEN w.id AND w.id AND ($1::text[] && ARRAY['succeeded', 'pending'] OR w.cancelling) AND id > o.after
        AND id < least_uuid($5::timestamptz) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id, id LIMIT $9::integer
    )
    UNION ALL (
      SELECT id, event_id, event, state, generation, reason, completed_at FROM deliveries
      WHERE webhook_id BETWEEN w.id AND w.id AND state IN ('exhausted', 'cancelled') AND NOT ($1::text[] && ARRAY['succeeded', 'pending'] OR w.cancelling) AND id > o.after
        AND id < least_uuid($5::timestamptz) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id, id LIMIT $9::integer
    )
  ) d
GROUP BY 1, 2;

-- countStarted(…)
SELECT d.webhook_id AS "webhookId", count(*) FILTER (WHERE in_flight)::integer AS "inFlight",
  count(*) FILTER (WHERE NOT in_flight AND at <= now())::integer AS due,
  count(*) FILTER (WHERE NOT in_flight AND at > now())::integer AS retried
FROM unnest($1::bigint[]) AS o(webhook_id)
  JOIN LATERAL (SELECT id, generation FROM webhooks WHERE id = o.webhook_id LIMIT 1) w ON true
  CROSS JOIN LATERAL (
    SELECT id, webhook_id, generation, event, replayed, resumes_at,
      coalesce(claimed_until > now(), false) AS in_flight, greatest(next_attempt_at, not_before) AS at
    FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    ORDER BY next_attempt_at LIMIT $2::integer
  ) d
WHERE d.generation = w.generation AND d.id >= least_uuid($3::timestamptz) AND d.id < least_uuid($4::timestamptz)
  AND ($5::text IS NULL OR d.event = $5)
  AND CASE WHEN $6::boolean THEN d.id::text LIKE '________-____-____-8fff-%'
    ELSE d.replayed OR d.resumes_at IS NOT NULL END
GROUP BY d.webhook_id;

-- countWaiting(…)
SELECT id, count(*)::integer AS deliveries, min(created_at) AS since
FROM (
  SELECT w.id, d.created_at FROM webhooks w CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation = w.generation
      AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    LIMIT $1::integer
  ) d
  WHERE w.deleted_at IS NULL AND w.account_id = $2
    AND ($3::bigint IS NULL OR w.id = $3)
  LIMIT $1::integer
) d
GROUP BY id;

-- countWaitingByAccount(…)
WITH RECURSIVE step AS (
  (SELECT webhook_id, next_attempt_at, 1 AS number FROM deliveries
   WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid) 
   ORDER BY webhook_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.next_attempt_at, step.number + 1
  FROM step CROSS JOIN LATERAL (
    SELECT webhook_id, next_attempt_at FROM deliveries
    WHERE state = 'pending' AND webhook_id > step.webhook_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY webhook_id, next_attempt_at LIMIT 1
  ) next
  
)
SELECT w.account_id AS "accountId", sum(d.waiting)::float8 AS waiting
FROM step s
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON true
  CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM (
      SELECT FROM deliveries
      WHERE webhook_id = s.webhook_id AND state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
      ORDER BY next_attempt_at LIMIT 10000
    ) p
  ) d
GROUP BY w.account_id;

-- countWaitingOf(…)
SELECT w.id AS "webhookId", count(*)::integer AS waiting
FROM unnest($1::bigint[]) AS w(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries
  WHERE webhook_id = w.id AND state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
  ORDER BY next_attempt_at LIMIT 10000
) d
GROUP BY w.id;

-- findAnyNews(…)
SELECT FROM events WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) AND id > $1 AND id < $2 ORDER BY id LIMIT 1;

-- findAttempts(…)
SELECT g.delivery_id AS "deliveryId", a.*
  FROM unnest($1::uuid[], $2::integer[]) g(delivery_id, number)
  CROSS JOIN LATERAL (
    SELECT number, at, duration_ms AS "durationMs", status, error, address,
  response_headers::json AS "responseHeaders", response_body AS "responseBody", truncated, sent FROM attempts
    WHERE delivery_id = g.delivery_id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) AND take >= g.number
      AND number = g.number
    ORDER BY take LIMIT 1
  ) a;

-- findDeliveries(…)
SELECT  d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM deliveries d WHERE d.id = ANY ($1::uuid[]) AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid) AND ($2::bigint IS NULL OR d.account_id = $2)
    UNION
    SELECT d.* FROM unnest($3::uuid[], $4::uuid[], $5::uuid[]) g(event_id, least, greatest)
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries d
      WHERE d.id BETWEEN g.least AND g.greatest AND (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid) AND ($2::bigint IS NULL OR d.account_id = $2) AND d.event_id = g.event_id
      OFFSET 0
    ) d
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id;

-- findMissed({"first":20454,"last":20455},{"data":false})
WITH scanned AS (
  SELECT id, account_id, application_id AS "applicationId", event, resource, test,
      created_at AS "createdAt", (row_number() OVER (ORDER BY account_id, id))::integer AS number,
      NOT test AND erased_at IS NULL AND event = $1 AND ($2::text = 'all' OR resource = ANY (string_to_array($2::text, ','))) AND added < 100
        AND coalesce($3::bigint IS NULL OR application_id = $3, false) AS selected
    FROM events
    WHERE (account_id, id) > ($4::bigint, $5::uuid)
      AND (account_id, id) < ($4::bigint, least_uuid($6::timestamptz)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    ORDER BY account_id, id LIMIT 100
)
SELECT id, "applicationId", event, resource, test, "createdAt", NULL AS data, number,
  "isLast", matches
FROM (
  SELECT *, selected AS matches
  FROM (
    SELECT id, account_id, "applicationId", event, resource, test, "createdAt", number, number = 100 AS "isLast", selected AND NOT (id IN (
      SELECT event_id FROM deliveries
      WHERE (webhook_id, id) >= ($7::bigint, (SELECT (left(min(id::text), 19) || '0000-000000000000')::uuid FROM scanned))
        AND (webhook_id, id) <= ($7::bigint, (SELECT (left(max(id::text), 19) || 'ffff-ffffffffffff')::uuid FROM scanned)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id DESC, id DESC LIMIT 20000
    )) AS selected FROM scanned OFFSET 0
  ) AS candidates
) AS found
WHERE matches OR "isLast" ORDER BY id LIMIT $8::integer;

-- findMissed({"first":20454,"last":20455},{"data":true})
WITH scanned AS (
  SELECT id, account_id, application_id AS "applicationId", event, resource, test,
      created_at AS "createdAt", data,
      NOT test AND erased_at IS NULL AND event = $1 AND ($2::text = 'all' OR resource = ANY (string_to_array($2::text, ','))) AND added < 100
        AND coalesce($3::bigint IS NULL OR application_id = $3, false) AS selected
    FROM events
    WHERE (account_id, id) > ($4::bigint, $5::uuid)
      AND (account_id, id) < ($4::bigint, least_uuid($6::timestamptz)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    ORDER BY account_id, id LIMIT 100
)
SELECT id, "applicationId", event, resource, test, "createdAt", data, number,
  "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected ELSE false END AS matches
  FROM (
    SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 100 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY account_id, id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY account_id, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id, "applicationId", event, resource, test, "createdAt", data, selected AND NOT (id IN (
      SELECT event_id FROM deliveries
      WHERE (webhook_id, id) >= ($7::bigint, (SELECT (left(min(id::text), 19) || '0000-000000000000')::uuid FROM scanned))
        AND (webhook_id, id) <= ($7::bigint, (SELECT (left(max(id::text), 19) || 'ffff-ffffffffffff')::uuid FROM scanned)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id DESC, id DESC LIMIT 20000
    )) AS selected FROM scanned OFFSET 0) AS d
    ) AS d
  ) AS d
  ) AS candidates
) AS found
WHERE matches OR "isLast" ORDER BY id LIMIT $8::integer;

-- findNews(…)
SELECT w.ord::integer AS ord
FROM unnest($1::bigint[], $2::uuid[]) WITH ORDINALITY AS w(account_id, after, ord)
CROSS JOIN LATERAL (
  SELECT FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) > (w.account_id, w.after) AND (account_id, id) < (w.account_id, $3)
  ORDER BY account_id, id LIMIT 1
) e;

-- findOutdated(…)
SELECT w.id FROM webhooks w CROSS JOIN LATERAL (
  SELECT FROM deliveries
  WHERE webhook_id = w.id AND state = 'pending' AND generation < w.generation
    AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
  ORDER BY next_attempt_at LIMIT 1
) outdated
WHERE w.id = ANY ($1::bigint[]);

-- findPendingDays([20454,20455])
(SELECT 20454 AS day FROM deliveries
WHERE state = 'pending' AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
ORDER BY webhook_id, next_attempt_at LIMIT 1) UNION ALL (SELECT 20455 AS day FROM deliveries
WHERE state = 'pending' AND (id >= '019b7c01-0400-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
ORDER BY webhook_id, next_attempt_at LIMIT 1);

-- findReplayable(…)
SELECT id, "isLast", matches FROM (
  SELECT d.id, row_number() OVER (ORDER BY d.id) = 10000 AS "isLast", coalesce(CASE WHEN CASE WHEN d.state = 'pending' AND d.generation < w.generation THEN 'cancelled' ELSE d.state END
      = ANY ($1::text[])
    AND ($2::text IS NULL OR d.event = $2)
    AND ($3::text IS NULL OR $3 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    ))
    AND ($4::timestamptz IS NULL OR d.completed_at >= $4 AND CASE d.state
      WHEN 'exhausted' THEN d.reason = 'no_attempts_left' AND d.completed_at < $5 AND coalesce((
        SELECT error = ANY ('{dns,refused,reset,timeout}') FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ), false)
      ELSE d.reason = 'failing' END)
  THEN (
    SELECT CASE WHEN test THEN 'test' WHEN erased_at IS NOT NULL THEN 'erased' ELSE 'sent' END
    FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      AND ($6::bigint IS NULL OR application_id = $6)
    LIMIT 1
  ) END = 'sent', false) AS matches
  FROM webhooks w CROSS JOIN LATERAL (
    (
      SELECT id, event_id, event, state, generation, reason, completed_at FROM deliveries
      WHERE webhook_id BETWEEN w.id AND w.id AND ($1::text[] && ARRAY['succeeded', 'pending'] OR w.cancelling) AND id > $7::uuid
        AND id < least_uuid($5::timestamptz) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id, id LIMIT 10000
    )
    UNION ALL (
      SELECT id, event_id, event, state, generation, reason, completed_at FROM deliveries
      WHERE webhook_id BETWEEN w.id AND w.id AND state IN ('exhausted', 'cancelled') AND NOT ($1::text[] && ARRAY['succeeded', 'pending'] OR w.cancelling) AND id > $7::uuid
        AND id < least_uuid($5::timestamptz) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id, id LIMIT 10000
    )
  ) d
  WHERE w.id = $8 ORDER BY d.id LIMIT 10000
) scanned
WHERE matches OR "isLast" ORDER BY id LIMIT $9::integer;

-- findWaiting(…)
SELECT (SELECT count(*)::integer FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND (claimed_until IS NULL OR claimed_until <= now()) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    -- The order of the index on pending rows, so that the planner prefers no other index.
    ORDER BY next_attempt_at LIMIT $1::integer
  ) due) AS due,
  w.cancelling AND 0 < (SELECT count(*) FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation < w.generation
      AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    ORDER BY next_attempt_at LIMIT 1
  ) outdated) AS outdated
FROM webhooks w WHERE w.id = $2;

-- listDeliveries("exhausted",{"first":20454,"last":20455},"webhook")
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, selected AS matches FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.webhook_id DESC, d.id DESC) = 10000 AS "isLast",
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND (d.webhook_id, d.id) >= ($6::bigint, CASE WHEN $7::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($7) END)
    AND (d.webhook_id, d.id) < ($6::bigint, least($8::uuid, CASE WHEN $9::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($9 + interval '1 ms') END))
          AND ($6::bigint IS NULL OR $10::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $6 AND account_id = $10
        ))
          AND d.state IN ('exhausted', 'cancelled') 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($7::timestamptz IS NULL OR (d.created_at >= $7 AND d.id >= least_uuid($7)))
        AND ($9::timestamptz IS NULL
          OR (d.created_at < $9 AND d.id < least_uuid($9 + interval '1 ms')))
      ORDER BY d.webhook_id DESC, d.id DESC LIMIT 10000
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.webhook_id DESC, d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries("pending",{"first":20454,"last":20455},"webhook")
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, selected AS matches FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.id DESC) = 10000 AS "isLast",
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND d.webhook_id = $6
          AND ($6::bigint IS NULL OR $7::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $6 AND account_id = $7
        ))
          AND d.state = 'pending' OFFSET 0
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($9::timestamptz IS NULL OR (d.created_at >= $9 AND d.id >= least_uuid($9)))
        AND ($10::timestamptz IS NULL
          OR (d.created_at < $10 AND d.id < least_uuid($10 + interval '1 ms')))
      ORDER BY d.id DESC LIMIT 10000
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries(null,{"first":20454,"last":20455},"account")
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, selected AS matches FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.account_id DESC, d.id DESC) = 10000 AS "isLast",
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND (d.account_id, d.id) >= ($6::bigint, CASE WHEN $7::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($7) END)
    AND (d.account_id, d.id) < ($6::bigint, least($8::uuid, CASE WHEN $9::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($9 + interval '1 ms') END))
          AND ($10::bigint IS NULL OR $6::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $10 AND account_id = $6
        )) 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($7::timestamptz IS NULL OR (d.created_at >= $7 AND d.id >= least_uuid($7)))
        AND ($9::timestamptz IS NULL
          OR (d.created_at < $9 AND d.id < least_uuid($9 + interval '1 ms')))
      ORDER BY d.account_id DESC, d.id DESC LIMIT 10000
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.account_id DESC, d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries(null,{"first":20454,"last":20455},"account",{"notifications":true})
SELECT d.account_id AS "accountId", e.occurred_at AS "occurredAt", e.data, w.name, w.payload, d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, CASE WHEN "isRead" THEN selected ELSE false END AS matches FROM (
      SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 10000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY d.account_id DESC, d.id DESC))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY d.account_id DESC, d.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT d.*, e.data,
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND (d.account_id, d.id) >= ($6::bigint, CASE WHEN $7::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($7) END)
    AND (d.account_id, d.id) < ($6::bigint, least($8::uuid, CASE WHEN $9::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($9 + interval '1 ms') END))
          AND ($10::bigint IS NULL OR $6::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $10 AND account_id = $6
        )) 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      LEFT JOIN LATERAL (SELECT data FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT 1) e ON true
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($7::timestamptz IS NULL OR (d.created_at >= $7 AND d.id >= least_uuid($7)))
        AND ($9::timestamptz IS NULL
          OR (d.created_at < $9 AND d.id < least_uuid($9 + interval '1 ms')))
      ORDER BY d.account_id DESC, d.id DESC LIMIT 10000) AS d
    ) AS d
  ) AS d
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.account_id DESC, d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries(null,{"first":20454,"last":20455},"account",{"searches":true})
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, CASE WHEN "isRead" THEN selected AND strpos(data, $1) > 0 ELSE false END AS matches FROM (
      SELECT *, before < 16777216 AS "isRead",
    before < 16777216 AND (number = 10000 OR before + size >= 16777216) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY d.account_id DESC, d.id DESC))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY d.account_id DESC, d.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT d.*, e.data,
        ($2::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $2)
          AND ($3::text IS NULL OR d.event = $3)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($4::bigint IS NULL OR coalesce((
            SELECT e.application_id = $4 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($5::uuid[] IS NULL OR d.event_id = ANY ($5))
          AND ($6::text IS NULL OR $6 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND (d.account_id, d.id) >= ($7::bigint, CASE WHEN $8::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($8) END)
    AND (d.account_id, d.id) < ($7::bigint, least($9::uuid, CASE WHEN $10::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($10 + interval '1 ms') END))
          AND ($11::bigint IS NULL OR $7::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $11 AND account_id = $7
        )) 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $2::text IS NOT NULL LIMIT 1) w ON true
      LEFT JOIN LATERAL (SELECT data FROM events WHERE id = d.event_id AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid) LIMIT 1) e ON true
      WHERE ($9::uuid IS NULL OR d.id < $9)
        AND ($8::timestamptz IS NULL OR (d.created_at >= $8 AND d.id >= least_uuid($8)))
        AND ($10::timestamptz IS NULL
          OR (d.created_at < $10 AND d.id < least_uuid($10 + interval '1 ms')))
      ORDER BY d.account_id DESC, d.id DESC LIMIT 10000) AS d
    ) AS d
  ) AS d
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.account_id DESC, d.id DESC LIMIT $12
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries(null,{"first":20454,"last":20455},"webhook")
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, selected AS matches FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.webhook_id DESC, d.id DESC) = 10000 AS "isLast",
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND (d.webhook_id, d.id) >= ($6::bigint, CASE WHEN $7::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($7) END)
    AND (d.webhook_id, d.id) < ($6::bigint, least($8::uuid, CASE WHEN $9::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($9 + interval '1 ms') END))
          AND ($6::bigint IS NULL OR $10::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $6 AND account_id = $10
        )) 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($7::timestamptz IS NULL OR (d.created_at >= $7 AND d.id >= least_uuid($7)))
        AND ($9::timestamptz IS NULL
          OR (d.created_at < $9 AND d.id < least_uuid($9 + interval '1 ms')))
      ORDER BY d.webhook_id DESC, d.id DESC LIMIT 10000
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.webhook_id DESC, d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listDeliveries(null,{"first":20454,"last":20455},null)
SELECT  d."isLast", d.matches, d.id, d.event_id AS "eventId", d.webhook_id AS "webhookId", d.event, e.resource,
    e.application_id AS "applicationId", e.producer_id AS "producerId", w.target_url AS "targetUrl",
    CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END AS state, d.attempts, last.at AS "lastAt", last.duration_ms AS "lastDurationMs",
    last.status AS "lastStatus", last.error AS "lastError", last.detail AS "lastDetail",
    CASE WHEN d.state <> 'pending' OR w.generation IS NULL OR d.generation < w.generation OR (d.claimed_until IS NOT NULL AND d.claimed_until > now()) THEN NULL
      WHEN d.immediate THEN d.next_attempt_at
      WHEN NOT w.paused
        THEN greatest(d.next_attempt_at, d.not_before, w.hold_until, w.open_until, w.paced_until)
    END AS "nextAttemptAt",
    CASE WHEN CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = 'pending' AND NOT (d.claimed_until IS NOT NULL AND d.claimed_until > now()) AND d.next_attempt_at <= now()
      AND (
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '35 s'
  ) THEN 'hold'
    END AS "waitsFor",
    d.created_at AS "createdAt", CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation) THEN CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END ELSE d.reason END AS reason,
    CASE WHEN d.state = 'pending' AND (w.generation IS NULL OR d.generation < w.generation)
      THEN coalesce(w.deleted_at, w.disabled_at, w.updated_at, d.created_at) ELSE d.completed_at
    END AS "completedAt", e.erased_at AS "erasedAt",
    coalesce(e.test, false) AS test
  FROM (
    SELECT * FROM (
      SELECT *, selected AS matches FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.id DESC) = 10000 AS "isLast",
        ($1::text IS NULL OR CASE
    WHEN d.state <> 'pending' THEN d.state
    WHEN w.generation IS NULL OR d.generation < w.generation THEN 'cancelled'
    WHEN ((w.paused OR coalesce(w.hold_until > now(), false)) OR coalesce(w.open_until > now(), false)) AND NOT d.immediate THEN 'parked'
    ELSE 'pending'
  END = $1)
          AND ($2::text IS NULL OR d.event = $2)
          -- Not EXISTS, for which the planner would read all events of these days into a hash table.
          AND ($3::bigint IS NULL OR coalesce((
            SELECT e.application_id = $3 FROM events e
            WHERE e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          ), false))
          AND ($4::uuid[] IS NULL OR d.event_id = ANY ($4))
          AND ($5::text IS NULL OR $5 IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
      ) last
    )) AS selected
      FROM (
        SELECT * FROM deliveries d WHERE (d.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND d.id < '019b8127-6000-0000-0000-000000000000'::uuid)
          AND ($6::bigint IS NULL OR $7::bigint IS NULL OR EXISTS (
          SELECT FROM webhooks WHERE id = $6 AND account_id = $7
        )) 
      ) d LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id AND $1::text IS NOT NULL LIMIT 1) w ON true
      
      WHERE ($8::uuid IS NULL OR d.id < $8)
        AND ($9::timestamptz IS NULL OR (d.created_at >= $9 AND d.id >= least_uuid($9)))
        AND ($10::timestamptz IS NULL
          OR (d.created_at < $10 AND d.id < least_uuid($10 + interval '1 ms')))
      ORDER BY d.id DESC LIMIT 10000
      ) AS d
    ) AS d
    WHERE matches OR "isLast" ORDER BY d.id DESC LIMIT $11
  ) d
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id  LIMIT 1) w ON true
  LEFT JOIN events e ON e.id = d.event_id AND (e.id >= '019b76da-a800-0000-0000-000000000000'::uuid AND e.id < '019b8127-6000-0000-0000-000000000000'::uuid)
  LEFT JOIN LATERAL (
    SELECT at, duration_ms, status, error, CASE WHEN error IS NOT NULL THEN nullif(split_part(sent, E'\n', 6), '') END AS detail FROM attempts
    WHERE delivery_id = d.id AND (delivery_id >= '019b76da-a800-0000-0000-000000000000'::uuid AND delivery_id < '019b8127-6000-0000-0000-000000000000'::uuid) ORDER BY take DESC LIMIT 1
  ) last ON true
  ORDER BY d.id DESC;

-- listEvents({"first":20454,"last":20455},{"isOwned":false,"byIndex":false})
WITH scanned AS (
  SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", row_number() OVER (ORDER BY id DESC) = 10000 AS "isLast",
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND $5::bigint IS NULL 
    AND ($6::uuid IS NULL OR id < $6)
    AND ($7::timestamptz IS NULL OR (created_at >= $7 AND id >= least_uuid($7)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY id DESC LIMIT 10000
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", NULL AS data, NULL::integer AS number, "isLast", matches
FROM (
  SELECT *, selected AS matches
  FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY id DESC LIMIT $10;

-- listEvents({"first":20454,"last":20455},{"isOwned":true,"byIndex":false,"covered":true,"missed":true})
WITH scanned AS (
  SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", (row_number() OVER (ORDER BY account_id DESC, id DESC))::integer AS number,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4) AND ($5::text = 'all' OR resource = ANY (string_to_array($5::text, ','))) AND erased_at IS NULL
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) >= ($6::bigint, CASE WHEN $7::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($7) END)
    AND (account_id, id) < ($6::bigint, least($8::uuid, CASE WHEN $9::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($9 + interval '1 ms') END)) 
    AND ($8::uuid IS NULL OR id < $8)
    AND ($7::timestamptz IS NULL OR (created_at >= $7 AND id >= least_uuid($7)))
    AND ($9::timestamptz IS NULL
      OR (created_at < $9 AND id < least_uuid($9 + interval '1 ms')))
    AND ($10::uuid[] IS NULL OR id = ANY ($10))
  ORDER BY account_id DESC, id DESC LIMIT 100
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", NULL AS data, number, "isLast", matches
FROM (
  SELECT *, selected AS matches
  FROM (SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", number, number = 100 AS "isLast", selected AND NOT (id IN (
      SELECT event_id FROM deliveries
      WHERE (webhook_id, id) >= ($11::bigint, (SELECT (left(min(id::text), 19) || '0000-000000000000')::uuid FROM scanned))
        AND (webhook_id, id) <= ($11::bigint, (SELECT (left(max(id::text), 19) || 'ffff-ffffffffffff')::uuid FROM scanned)) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
      ORDER BY webhook_id DESC, id DESC LIMIT 20000
    )) AS selected FROM scanned OFFSET 0) AS candidates
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId" DESC, id DESC LIMIT $12;

-- listEvents({"first":20454,"last":20455},{"isOwned":true,"byIndex":false,"data":true})
WITH scanned AS (
  SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 10000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY "accountId" DESC, id DESC))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY "accountId" DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) >= ($5::bigint, CASE WHEN $6::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($6) END)
    AND (account_id, id) < ($5::bigint, least($7::uuid, CASE WHEN $8::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($8 + interval '1 ms') END)) 
    AND ($7::uuid IS NULL OR id < $7)
    AND ($6::timestamptz IS NULL OR (created_at >= $6 AND id >= least_uuid($6)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY account_id DESC, id DESC LIMIT 10000) AS d
    ) AS d
  ) AS d
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", data, NULL::integer AS number, "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected ELSE false END AS matches
  FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId" DESC, id DESC LIMIT $10;

-- listEvents({"first":20454,"last":20455},{"isOwned":true,"byIndex":false,"searches":true})
WITH scanned AS (
  SELECT *, before < 16777216 AS "isRead",
    before < 16777216 AND (number = 10000 OR before + size >= 16777216) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY "accountId" DESC, id DESC))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY "accountId" DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) >= ($5::bigint, CASE WHEN $6::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($6) END)
    AND (account_id, id) < ($5::bigint, least($7::uuid, CASE WHEN $8::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($8 + interval '1 ms') END)) 
    AND ($7::uuid IS NULL OR id < $7)
    AND ($6::timestamptz IS NULL OR (created_at >= $6 AND id >= least_uuid($6)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY account_id DESC, id DESC LIMIT 10000) AS d
    ) AS d
  ) AS d
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", NULL AS data, NULL::integer AS number, "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected AND strpos(data, $10) > 0 ELSE false END AS matches
  FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId" DESC, id DESC LIMIT $11;

-- listEvents({"first":20454,"last":20455},{"isOwned":true,"byIndex":false})
WITH scanned AS (
  SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", row_number() OVER (ORDER BY account_id DESC, id DESC) = 10000 AS "isLast",
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) >= ($5::bigint, CASE WHEN $6::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($6) END)
    AND (account_id, id) < ($5::bigint, least($7::uuid, CASE WHEN $8::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($8 + interval '1 ms') END)) 
    AND ($7::uuid IS NULL OR id < $7)
    AND ($6::timestamptz IS NULL OR (created_at >= $6 AND id >= least_uuid($6)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY account_id DESC, id DESC LIMIT 10000
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", NULL AS data, NULL::integer AS number, "isLast", matches
FROM (
  SELECT *, selected AS matches
  FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId" DESC, id DESC LIMIT $10;

-- listEvents({"first":20454,"last":20455},{"isOwned":true,"byIndex":true})
WITH scanned AS (
  SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", row_number() OVER (ORDER BY account_id DESC, id DESC) = 10000 AS "isLast",
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND ($4::boolean IS NULL OR unmatched = $4)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) >= ($5::bigint, CASE WHEN $6::timestamptz IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE least_uuid($6) END)
    AND (account_id, id) < ($5::bigint, least($7::uuid, CASE WHEN $8::timestamptz IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      ELSE least_uuid($8 + interval '1 ms') END)) AND unmatched
    AND ($7::uuid IS NULL OR id < $7)
    AND ($6::timestamptz IS NULL OR (created_at >= $6 AND id >= least_uuid($6)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY account_id DESC, id DESC LIMIT 10000
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", NULL AS data, NULL::integer AS number, "isLast", matches
FROM (
  SELECT *, selected AS matches
  FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId" DESC, id DESC LIMIT $10;

-- readFeed({"first":20454,"last":20455},{"isOwned":false,"searches":false})
WITH scanned AS (
  SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 10000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND coalesce($4::text IS NULL OR producer_id = $4, false)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND $5::bigint IS NULL AND id > $6::uuid AND id < $7::uuid
  ORDER BY id LIMIT 10000) AS d
    ) AS d
  ) AS d
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", data, "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected ELSE false END AS matches FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY id LIMIT $8;

-- readFeed({"first":20454,"last":20455},{"isOwned":true,"searches":false})
WITH scanned AS (
  SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 10000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY "accountId", id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY "accountId", id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND coalesce($4::text IS NULL OR producer_id = $4, false)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) > ($5::bigint, $6::uuid)
    AND (account_id, id) < ($5::bigint, $7::uuid)
  ORDER BY account_id, id LIMIT 10000) AS d
    ) AS d
  ) AS d
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", data, "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected ELSE false END AS matches FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId", id LIMIT $8;

-- readFeed({"first":20454,"last":20455},{"isOwned":true,"searches":true})
WITH scanned AS (
  SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 10000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY "accountId", id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY "accountId", id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource,
    producer_id AS "producerId", test, occurred_at AS "occurredAt", created_at AS "createdAt",
    erased_at AS "erasedAt", data,
    NOT test
      AND ($1::text IS NULL OR event = $1)
      AND ($2::text IS NULL OR resource = $2)
      AND coalesce($3::bigint IS NULL OR application_id = $3, false)
      AND coalesce($4::text IS NULL OR producer_id = $4, false)
      AS selected
  FROM events
  WHERE (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b8127-6000-0000-0000-000000000000'::uuid)
    AND (account_id, id) > ($5::bigint, $6::uuid)
    AND (account_id, id) < ($5::bigint, $7::uuid)
  ORDER BY account_id, id LIMIT 10000) AS d
    ) AS d
  ) AS d
)
SELECT id, "accountId", "applicationId", event, resource, "producerId", test, "occurredAt", "createdAt",
    "erasedAt", data, "isLast", matches
FROM (
  SELECT *, CASE WHEN "isRead" THEN selected AND strpos(data, $8) > 0 ELSE false END AS matches FROM scanned
) AS found
WHERE matches OR "isLast"
ORDER BY "accountId", id LIMIT $9;

-- searchEvents(20454,{"isOwned":false,"text":"erasure"})
SELECT id, "isLast", "hasText", "hasKey", CASE WHEN "isEscaped" AND NOT "hasText" THEN data END AS data
FROM (
  SELECT id, "isLast", data,
    in_time AND coalesce(strpos(producer_id, (SELECT contains FROM erasures WHERE id = $1::uuid)) > 0, false) AS "hasKey",
    CASE WHEN selected THEN strpos(data, (SELECT contains FROM erasures WHERE id = $1::uuid)) > 0 ELSE false END AS "hasText",
    CASE WHEN selected THEN strpos(data, '\') > 0 ELSE false END AS "isEscaped"
  FROM (SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 1000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT *, in_time AND erased_at IS NULL AS selected FROM (
    SELECT account_id, id, producer_id, erased_at, data,
      created_at < $2::timestamptz AND ($3::timestamptz IS NULL OR created_at >= $3) AS in_time
    FROM events WHERE $4::bigint IS NULL AND id > $5::uuid AND id < least_uuid($2::timestamptz + interval '1 ms') AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY id LIMIT 1000
  ) AS e) AS d
    ) AS d
  ) AS d) AS read
  WHERE "isRead"
) AS searched
WHERE "isLast" OR "hasText" OR "hasKey" OR "isEscaped"
ORDER BY id;

-- searchEvents(20454,{"isOwned":true,"text":"erasure"})
SELECT id, "isLast", "hasText", "hasKey", CASE WHEN "isEscaped" AND NOT "hasText" THEN data END AS data
FROM (
  SELECT id, "isLast", data,
    in_time AND coalesce(strpos(producer_id, (SELECT contains FROM erasures WHERE id = $1::uuid)) > 0, false) AS "hasKey",
    CASE WHEN selected THEN strpos(data, (SELECT contains FROM erasures WHERE id = $1::uuid)) > 0 ELSE false END AS "hasText",
    CASE WHEN selected THEN strpos(data, '\') > 0 ELSE false END AS "isEscaped"
  FROM (SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 1000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY account_id, id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY account_id, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT *, in_time AND erased_at IS NULL AS selected FROM (
    SELECT account_id, id, producer_id, erased_at, data,
      created_at < $2::timestamptz AND ($3::timestamptz IS NULL OR created_at >= $3) AS in_time
    FROM events WHERE (account_id, id) > ($4::bigint, $5::uuid) AND (account_id, id) < ($4::bigint, least_uuid($2::timestamptz + interval '1 ms')) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY account_id, id LIMIT 1000
  ) AS e) AS d
    ) AS d
  ) AS d) AS read
  WHERE "isRead"
) AS searched
WHERE "isLast" OR "hasText" OR "hasKey" OR "isEscaped"
ORDER BY id;

-- searchEvents(20454,{"isOwned":true,"text":"request"})
SELECT id, "isLast", "hasText", "hasKey", CASE WHEN "isEscaped" AND NOT "hasText" THEN data END AS data
FROM (
  SELECT id, "isLast", data,
    in_time AND coalesce(strpos(producer_id, $1::text) > 0, false) AS "hasKey",
    CASE WHEN selected THEN strpos(data, $1::text) > 0 ELSE false END AS "hasText",
    CASE WHEN selected THEN strpos(data, '\') > 0 ELSE false END AS "isEscaped"
  FROM (SELECT *, before < 1048576 AS "isRead",
    before < 1048576 AND (number = 1000 OR before + size >= 1048576) AS "isLast"
  FROM (
    SELECT *, (row_number() OVER (ORDER BY account_id, id))::integer AS number,
      coalesce(sum(size) OVER (ORDER BY account_id, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
      SELECT *, CASE WHEN selected THEN coalesce(octet_length(data), 0) ELSE 0 END AS size
      FROM (SELECT *, in_time AND erased_at IS NULL AS selected FROM (
    SELECT account_id, id, producer_id, erased_at, data,
      created_at < $2::timestamptz AND ($3::timestamptz IS NULL OR created_at >= $3) AS in_time
    FROM events WHERE (account_id, id) > ($4::bigint, $5::uuid) AND (account_id, id) < ($4::bigint, least_uuid($2::timestamptz + interval '1 ms')) AND (id >= '019b76da-a800-0000-0000-000000000000'::uuid AND id < '019b7c01-0400-0000-0000-000000000000'::uuid)
    ORDER BY account_id, id LIMIT 1000
  ) AS e) AS d
    ) AS d
  ) AS d) AS read
  WHERE "isRead"
) AS searched
WHERE "isLast" OR "hasText" OR "hasKey" OR "isEscaped"
ORDER BY id;
