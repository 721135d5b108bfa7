import { recordBySystem } from '#libs/kernel';
import { atPlaceOf, isOneOf, joinDeliveryByKey, withinBounds } from './delivery-by-key.js';
import { BEYOND_TIMEOUT_MS } from './delivery-lease.js';
import { IS_HELD } from './webhook-flow.js';

const TAKE_BOUNDS = withinBounds('$4', '$5');

/**
 * Takes jobs: each delivery that still waits for just this attempt, once. A second job for the
 * same attempt, and one that outlived its claim's successor, finds `taken` set or the number gone.
 * Only what is pending is ever claimed or taken. `takes` counts, and numbers this one: whoever
 * comes back with an older number has been given up.
 *
 * $1, $2 arrays: delivery, in order, and attempt number; $3 lease in ms, for subscriptions without a
 * time-out of their own; $4, $5 bounds of the ids
 */
export const TAKE = {
  name: 'pending.take',
  text: `
WITH taken AS (
  UPDATE deliveries d
  SET taken = true, takes = d.takes + 1,
    claimed_until = now() + make_interval(secs => coalesce(
      (SELECT (retry ->> 'timeoutMs')::float8 + ${BEYOND_TIMEOUT_MS} FROM webhooks
       WHERE id = d.webhook_id),
      $3::float8
    ) / 1000)
  WHERE d.id ${isOneOf('$1')} AND d.id ${TAKE_BOUNDS}
    AND d.attempts = ${atPlaceOf('$1', '$2::integer[]')} - 1
    AND NOT d.taken AND d.claimed_until IS NOT NULL
    -- An expression: else the index on what is pending seems to be as good, and all of it is read.
    AND d.state || '' = 'pending'
  RETURNING d.id, d.event_id, d.webhook_id, d.attempts, d.takes, d.schedule_base, d.immediate,
    d.generation, d.replayed, d.created_at
)
SELECT t.id, t.webhook_id, t.attempts + 1 AS attempt, t.takes AS take, t.schedule_base,
  t.immediate, t.replayed, t.created_at, now() AS taken_at,
  e.account_id, e.application_id, e.event, e.resource, e.occurred_at, e.test, e.traceparent,
  e.data,
  w.name, w.target_url, w.userinfo, w.target_version, w.headers, w.payload, w.retry, w.secret,
  w.backlog,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS retired_secrets,
  NOT w.enabled OR w.deleted_at IS NOT NULL OR t.generation < w.generation AS cancelled,
  ${IS_HELD} AS held,
  w.failing_since IS NOT NULL AS failing
FROM taken t
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = t.event_id AND id ${TAKE_BOUNDS} LIMIT 1
) e ON true
JOIN webhooks w ON w.id = t.webhook_id`,
};

/** Ends deliveries that were taken and whose event is gone: they would be taken for ever. $1 array: delivery. */
export const END_WITHOUT_EVENT = {
  text: `
WITH found AS MATERIALIZED (
  SELECT d.id FROM unnest($1::uuid[]) AS j(id) ${joinDeliveryByKey('j.id')}
)
UPDATE deliveries d
SET state = 'exhausted', reason = 'expired', taken = false, claimed_until = NULL,
  next_attempt_at = NULL, completed_at = now()
FROM found WHERE d.id = found.id AND d.taken`,
};

/**
 * Hands deliveries back. $1, $2 arrays: delivery, number of its take; $3 subscriptions whose
 * deliveries wait from now on: a new one would overtake them; $4 subscriptions of which a cancelled
 * delivery turned up
 */
export const RELEASE = {
  name: 'pending.release',
  text: `
WITH waiting AS MATERIALIZED (
  SELECT id FROM webhooks
  WHERE id = ANY ($3::bigint[]) AND id <> ALL ($4::bigint[]) AND NOT backlog
  -- The feeder marks it as well: nobody's transaction may hold up what others hand back.
  FOR NO KEY UPDATE SKIP LOCKED
),
backlogged AS (
  UPDATE webhooks w SET backlog = true FROM waiting WHERE w.id = waiting.id
),
cancelling AS (
  UPDATE webhooks SET cancelling = true, backlog = backlog OR id = ANY ($3::bigint[])
  WHERE id = ANY ($4::bigint[]) AND NOT cancelling
),
held AS MATERIALIZED (
  SELECT d.id, d.takes FROM unnest($1::uuid[], $2::integer[]) AS j(id, take)
  ${joinDeliveryByKey('j.id')}
  WHERE d.takes = j.take AND d.taken
)
UPDATE deliveries d SET taken = false, claimed_until = NULL
FROM held WHERE d.id = held.id AND d.takes = held.takes AND d.taken`,
};

/** What the arrays of {@link RECORD} have of delivery `d`. */
const OUTCOME = {
  take: atPlaceOf('$1', '$2::integer[]'),
  number: atPlaceOf('$1', '$3::integer[]'),
  state: atPlaceOf('$1', '$12::text[]'),
  reason: atPlaceOf('$1', '$13::text[]'),
  delayMs: atPlaceOf('$1', '$14::float8[]'),
};

/**
 * What an outcome may change: the delivery that it was taken as. The numbers of take and attempt
 * are the fence: an outcome that comes after its claim was given up and taken by another, or a
 * second time, is logged and changes nothing, except for a success of the present schedule: what
 * was delivered is delivered, whoever says so. An attempt that was on its way when its subscription
 * was switched off still counts, so a row that was cancelled meanwhile is found as well.
 */
const IS_RECORDABLE = `(
    d.takes = ${OUTCOME.take} AND d.attempts = ${OUTCOME.number} - 1
      AND d.state IN ('pending', 'cancelled')
    OR ${OUTCOME.state} = 'succeeded' AND ${OUTCOME.number} > d.schedule_base
      AND d.state <> 'succeeded'
  )`;

/** An attempt that was on its way when its delivery was cancelled changes that only if it succeeded. */
const STAYS_CANCELLED = `d.state = 'cancelled' AND ${OUTCOME.state} <> 'succeeded'`;

const RECORD_BOUNDS = withinBounds('$15', '$16');

/**
 * Records attempts and what follows from them.
 *
 * $1…$12 arrays: delivery, in order, number of the take, number, at, duration, status, error, address,
 * headers, body, truncated, state; $13, $14 arrays: reason, delay in ms until the next attempt; $15, $16
 * bounds of the ids
 */
export const RECORD = {
  name: 'pending.record',
  text: `
WITH logged AS (
  INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, error, address,
    response_headers, response_body, truncated)
  SELECT a.* FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::timestamptz[], $5::integer[],
    $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[], $11::boolean[])
    AS a(id, take, number, at, duration_ms, status, error, address, headers, body, truncated)
  -- Of deliveries that are still there: where theirs was dropped, attempts have no partition either,
  -- and one without would make all fail.
  ${joinDeliveryByKey('a.id', { bounds: RECORD_BOUNDS })}
  -- Recorded before, in a statement whose answer did not reach us.
  ON CONFLICT DO NOTHING
)
UPDATE deliveries d
SET attempts = greatest(d.attempts, ${OUTCOME.number}),
  taken = false,
  claimed_until = NULL,
  state = CASE WHEN ${STAYS_CANCELLED} THEN d.state ELSE ${OUTCOME.state} END,
  reason = CASE WHEN ${STAYS_CANCELLED} THEN d.reason ELSE ${OUTCOME.reason} END,
  next_attempt_at = CASE
    WHEN ${OUTCOME.state} = 'pending' THEN now() + make_interval(secs => ${OUTCOME.delayMs} / 1000)
  END,
  completed_at = CASE WHEN ${OUTCOME.state} <> 'pending' OR d.state = 'cancelled' THEN now() END
WHERE d.id ${isOneOf('$1')} AND d.id ${RECORD_BOUNDS} AND ${IS_RECORDABLE}`,
};

/** How it is recorded that the service switched a subscription off. */
const SWITCHED_OFF = { action: 'webhook.disable', fields: ['enabled'] } as const;

/** The circuit opens after so many failures in a row, if the first is so long ago. */
const OPENS_AFTER = { failures: 10, interval: '30 s' };
const FIRST_OPENING = '30 s';
const LONGEST_OPENING = '1 h';

/**
 * Counts attempts for the health of their targets. Of a subscription, those since the last success
 * count on; nothing is written unless something changes: failures are counted until the circuit may
 * open, then it opens again with each probe that fails, for twice as long, and a success closes it.
 *
 * $1…$4 arrays, a target once: subscription, version of the target that was called, whether an
 * attempt succeeded, how many failed since; $5 ms after which a subscription that only fails is switched off
 */
export const OBSERVE = {
  name: 'pending.observe',
  text: `
WITH before AS MATERIALIZED (
  SELECT w.id, w.open_until, w.openings, w.failures, w.failing_since, s.succeeded,
    least(s.failures + CASE WHEN s.succeeded THEN 0 ELSE w.failures END, ${OPENS_AFTER.failures})
      AS failures_now,
    CASE WHEN s.failures > 0 THEN
      CASE WHEN s.succeeded THEN now() ELSE coalesce(w.failing_since, now()) END
    END AS failing_since_now
  FROM unnest($1::bigint[], $2::integer[], $3::boolean[], $4::integer[])
    AS s(webhook_id, target_version, succeeded, failures)
  JOIN webhooks w ON w.id = s.webhook_id AND w.target_version = s.target_version
  WHERE w.enabled AND w.deleted_at IS NULL
  -- What somebody else has locked goes uncounted: it must not hold up the outcomes of all others, and
  -- the next attempt tells the same.
  FOR NO KEY UPDATE OF w SKIP LOCKED
),
change AS (
  SELECT *, CASE
    WHEN succeeded AND open_until IS NOT NULL THEN 'closed'
    WHEN failures_now < ${OPENS_AFTER.failures}
      OR failing_since_now > now() - interval '${OPENS_AFTER.interval}'
      OR open_until > now() THEN NULL
    -- Only by a probe: before, nobody was warned, and what fails may do so for a second.
    WHEN open_until IS NOT NULL
      AND failing_since_now <= now() - make_interval(secs => $5::float8 / 1000) THEN 'switched_off'
    ELSE 'opened'
  END AS change
  FROM before
),
changed AS (
  UPDATE webhooks w
  SET failures = c.failures_now,
    failing_since = c.failing_since_now,
    open_until = CASE c.change
      WHEN 'closed' THEN NULL
      WHEN 'opened' THEN now() + least(
        interval '${FIRST_OPENING}' * power(2, least(c.openings, 10)), interval '${LONGEST_OPENING}'
      )
      ELSE w.open_until
    END,
    openings = CASE c.change WHEN 'closed' THEN 0 WHEN 'opened' THEN w.openings + 1 ELSE w.openings END,
    closed_at = CASE c.change WHEN 'closed' THEN now() ELSE w.closed_at END,
    backlog = w.backlog OR c.change IS NOT NULL,
    enabled = NOT off, disabled_reason = CASE WHEN off THEN 'failing' END,
    disabled_at = CASE WHEN off THEN now() END, generation = w.generation + off::integer,
    cancelling = w.cancelling OR off, version = w.version + off::integer,
    updated_at = CASE WHEN off THEN now() ELSE w.updated_at END
  FROM change c CROSS JOIN LATERAL (SELECT c.change IS NOT DISTINCT FROM 'switched_off' AS off) o
  WHERE w.id = c.id AND (c.change IS NOT NULL
    OR (c.failures_now, c.failing_since_now) IS DISTINCT FROM (c.failures, c.failing_since))
  RETURNING w.id, w.account_id, c.change
),
recorded AS (
  ${recordBySystem(SWITCHED_OFF, `changed WHERE change = 'switched_off'`)}
)
SELECT id, change FROM changed`,
};

/** 410: $1 subscription, $2 version of the target that answered. */
export const SWITCH_OFF = {
  name: 'pending.switch-off',
  text: `
WITH off AS (
  UPDATE webhooks
  SET enabled = false, disabled_reason = 'gone', disabled_at = now(), generation = generation + 1,
    cancelling = true, version = version + 1, updated_at = now()
  WHERE id = $1 AND target_version = $2 AND enabled AND deleted_at IS NULL
  RETURNING id, account_id
)
${recordBySystem(SWITCHED_OFF, 'off')}`,
};

/** Retry-After: $1 subscription, $2 version of the target that asked, $3 for how many ms. */
export const HOLD = {
  name: 'pending.hold',
  text: `
UPDATE webhooks
SET hold_until = greatest(hold_until, now() + make_interval(secs => $3::float8 / 1000))
WHERE id = $1 AND target_version = $2`,
};
