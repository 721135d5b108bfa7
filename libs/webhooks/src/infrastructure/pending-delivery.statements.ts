import type { Statement } from '#libs/kernel';
import { atPlaceOf, isOneOf } from './delivery-by-key.js';
import { BEYOND_TIMEOUT_MS, LEFT_BEYOND_TIMEOUT_MS } from './delivery-lease.js';
import { type Day, eachDay, withinDays } from './partition-days.js';
import { HEALTH } from './target-verdict.statements.js';
import { IS_BLOCKED, IS_OFF, IS_STOPPED, OFF_REASON } from './webhook-flow.js';

/** A statement about the deliveries of one day, prepared under a name of its own. */
function ofDay(name: string, text: (day: Day) => string): (day: Day) => Statement {
  return eachDay((day) => ({ name: `${name}.${String(day)}`, text: text(day) }));
}

/** How long an attempt of delivery `d` may take, in ms. @param timeoutMs where its subscription does not say */
const timeoutOf = (timeoutMs: string): string => `coalesce(
      (SELECT (retry ->> 'timeoutMs')::float8 FROM webhooks WHERE id = d.webhook_id), ${timeoutMs}::float8
    )`;

/**
 * When a lease ends that lasts so much longer than an attempt. While it lasts, the index on what is pending shows the
 * delivery as due at its end, so whoever looks for what is due reads nothing that somebody has.
 */
const leaseEnd = (timeoutMs: string, beyondMs: number): string =>
  `now() + make_interval(secs => (${timeoutOf(timeoutMs)} + ${String(beyondMs)}) / 1000)`;

/** Ends a lease: the delivery is due since the lease began, so that it keeps its place among the others. */
const endLease = (timeoutMs: string): string => `claimed_until = NULL,
    next_attempt_at = least(now(), d.claimed_until
      - make_interval(secs => (${timeoutOf(timeoutMs)} + ${String(BEYOND_TIMEOUT_MS)}) / 1000))`;

const LEASED = `d.id, d.event_id, d.webhook_id, d.attempts, d.takes, d.schedule_base, d.immediate,
    d.replayed, d.created_at, d.claimed_until`;

/** Cancels those of `judged` whose subscription is off. */
const cancelOff = (day: Day): string => `
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT ${OFF_REASON} FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM judged WHERE is_off)) AND ${withinDays('d.id', day)}
)`;

/** All that is needed to send `leased`. */
const loadLeased = (day: Day, others = ''): string => `
SELECT l.id, l.webhook_id, l.attempts + 1 AS attempt, l.takes AS lease, l.schedule_base, l.immediate,
  l.replayed, l.created_at, now() AS leased_at,
  (extract(epoch FROM l.claimed_until - now()) * 1000)::float8 AS lease_ms,
  e.account_id, e.application_id, e.event, e.resource, e.occurred_at, e.test, e.traceparent, e.data,
  w.backlog, w.name, w.target_url, w.userinfo, w.target_version, w.headers, w.payload, w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS retired_secrets,
  ${HEALTH} AS health${others}
FROM leased l
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = l.event_id AND ${withinDays('id', day)} LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = l.webhook_id LIMIT 1) w ON true`;

/**
 * Takes over deliveries from the queue, each once: the number of the lease is raised, so a second job of the
 * same delivery has an older one. A row that is locked is passed over; it is due when its lease ends.
 * The end of the lease mostly stays as it is, and with it the index.
 *
 * $1, $2 arrays: delivery, number of its lease; $3 timeout of an attempt in ms
 */
export const TAKE = ofDay(
  'pending.take',
  (day) => `
WITH judged AS MATERIALIZED (
  SELECT d.id, ${IS_OFF} AS is_off, NOT d.immediate AND ${IS_BLOCKED} AS is_blocked
  FROM unnest($1::uuid[], $2::integer[]) AS j(id, lease)
  JOIN LATERAL (
    SELECT * FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON d.takes = j.lease AND d.state = 'pending'
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true
),
${cancelOff(day)},
blocked AS (
  UPDATE deliveries d SET ${endLease('$3')}
  WHERE d.id = ANY (ARRAY(SELECT id FROM judged WHERE is_blocked AND NOT is_off))
    AND ${withinDays('d.id', day)}
),
leased AS (
  UPDATE deliveries d
  SET takes = d.takes + 1,
    claimed_until = greatest(d.claimed_until, ${leaseEnd('$3', LEFT_BEYOND_TIMEOUT_MS)}),
    next_attempt_at = greatest(d.claimed_until, ${leaseEnd('$3', LEFT_BEYOND_TIMEOUT_MS)})
  WHERE d.id = ANY (ARRAY(SELECT id FROM judged WHERE NOT is_blocked AND NOT is_off))
    AND ${withinDays('d.id', day)}
  RETURNING ${LEASED}
)
${loadLeased(day)}`,
);

/**
 * Puts off all other probes of open circuits whose time has come for as long as a lease may last.
 * $1 array: subscription; $2 timeout of an attempt in ms
 */
export const PROBE = {
  name: 'pending.probe',
  text: `
UPDATE webhooks w
SET open_until = now() + make_interval(secs => ($2::float8 + ${String(BEYOND_TIMEOUT_MS)}) / 1000)
WHERE w.id = ANY (ARRAY(
  SELECT id FROM webhooks WHERE id = ANY ($1::bigint[]) AND open_until <= now()
  FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING w.id`,
};

/**
 * Leases what is due, straight to the worker that asks: of each subscription the oldest, as many as it says.
 * What others have locked is passed over.
 *
 * $1, $2, $3 arrays: subscription, how many, from when on there may be something due; $4 array: those whose
 * probe this is; $5 timeout of an attempt in ms
 */
export const CLAIM = ofDay('pending.claim', (day) =>
  claim(
    day,
    'NOT immediate',
    `NOT ${IS_STOPPED} AND (w.open_until IS NULL OR w.id = ANY ($4::bigint[]))`,
  ),
);

/** The same of tests, which nothing blocks. */
export const CLAIM_TESTS = ofDay('pending.claim-tests', (day) =>
  claim(day, 'immediate', '$4::bigint[] IS NOT NULL'),
);

function claim(day: Day, isAskedFor: string, mayBeSent: string): string {
  return `
WITH judged AS MATERIALIZED (
  SELECT d.id, ${IS_OFF} AS is_off, d.claimed_until IS NOT NULL AS is_expired
  -- Subqueries: knowing the arrays while it plans, PostgreSQL would plan anew each time.
  FROM unnest((SELECT $1::bigint[]), (SELECT $2::integer[]), (SELECT $3::timestamptz[]))
    AS a(webhook_id, most, since)
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = a.webhook_id LIMIT 1) w ON ${mayBeSent}
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE webhook_id = a.webhook_id AND state = 'pending' AND ${isAskedFor}
      AND next_attempt_at <= now() AND next_attempt_at >= a.since
      AND (claimed_until IS NULL OR claimed_until <= now()) AND ${withinDays('id', day)}
    ORDER BY next_attempt_at, id LIMIT a.most
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
),
${cancelOff(day)},
leased AS (
  UPDATE deliveries d
  SET takes = d.takes + 1, claimed_until = ${leaseEnd('$5', BEYOND_TIMEOUT_MS)},
    next_attempt_at = ${leaseEnd('$5', BEYOND_TIMEOUT_MS)}
  WHERE d.id = ANY (ARRAY(SELECT id FROM judged WHERE NOT is_off)) AND ${withinDays('d.id', day)}
  RETURNING ${LEASED}
)
${loadLeased(
  day,
  `, w.id = ANY ($4::bigint[]) AS is_probe,
  l.id = ANY (ARRAY(SELECT id FROM judged WHERE is_expired)) AS is_expired`,
)}
ORDER BY l.id`;
}

/** Ends leased deliveries whose event is gone: they would be leased for ever. $1 array: delivery. */
export const END_WITHOUT_EVENT = ofDay(
  'pending.end-without-event',
  (day) => `
UPDATE deliveries d
SET state = 'exhausted', reason = 'expired', claimed_until = NULL, next_attempt_at = NULL,
  completed_at = now()
WHERE d.id ${isOneOf('$1')} AND ${withinDays('d.id', day)} AND d.state = 'pending'`,
);

/** Gives back what was not sent. $1, $2 arrays: delivery, number of its lease; $3 timeout of an attempt in ms. */
export const RELEASE = ofDay(
  'pending.release',
  (day) => `
WITH given AS MATERIALIZED (
  SELECT d.id FROM unnest($1::uuid[], $2::integer[]) AS j(id, lease)
  JOIN LATERAL (
    SELECT * FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON d.takes = j.lease AND d.state IN ('pending', 'cancelled')
)
UPDATE deliveries d SET ${endLease('$3')}
WHERE d.id = ANY (ARRAY(SELECT id FROM given)) AND ${withinDays('d.id', day)}`,
);

/** What the arrays of {@link RECORD} have of delivery `d`. */
const OUTCOME = {
  lease: atPlaceOf('$1', '$2::integer[]'),
  number: atPlaceOf('$1', '$3::integer[]'),
  base: atPlaceOf('$1', '$12::integer[]'),
  state: atPlaceOf('$1', '$13::text[]'),
  reason: atPlaceOf('$1', '$14::text[]'),
  delayMs: atPlaceOf('$1', '$15::float8[]'),
  afreshState: atPlaceOf('$1', '$16::text[]'),
  afreshReason: atPlaceOf('$1', '$17::text[]'),
  afreshDelayMs: atPlaceOf('$1', '$18::float8[]'),
};

/** Whether the schedule that the conclusion follows is still the present one. */
const IN_SCHEDULE = `d.schedule_base = ${OUTCOME.base}`;
const STATE = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.state} ELSE ${OUTCOME.afreshState} END`;
const REASON = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.reason} ELSE ${OUTCOME.afreshReason} END`;
const DELAY_MS = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.delayMs} ELSE ${OUTCOME.afreshDelayMs} END`;

/**
 * What an outcome may change: the delivery under the very lease that it was sent under. An outcome
 * that comes after its delivery was given to another, or a second time, is logged and changes nothing,
 * except for a success of the present schedule: what was delivered is delivered, whoever says so. An
 * attempt that was on its way when its subscription was switched off still counts, so a row that was
 * cancelled meanwhile is found as well.
 */
const IS_RECORDABLE = `(
    d.takes = ${OUTCOME.lease} AND d.attempts = ${OUTCOME.number} - 1
      AND d.state IN ('pending', 'cancelled')
    OR ${OUTCOME.state} = 'succeeded' AND ${OUTCOME.number} > d.schedule_base
      AND d.state <> 'succeeded'
  )`;

/** An attempt that was on its way when its delivery was cancelled changes that only if it succeeded. */
const STAYS_CANCELLED = `d.state = 'cancelled' AND ${OUTCOME.state} <> 'succeeded'`;

/**
 * Records attempts and what follows from them; passes over rows that others have locked.
 *
 * $1…$11 arrays: delivery, in order, number of the lease, number, at, duration, status, error, address,
 * headers, body, truncated; $12…$15 base of the schedule, state, reason, delay in ms until the next attempt;
 * $16…$18 state, reason and delay if the schedule was begun anew meanwhile; $19 the worker
 * @returns the deliveries that were not locked
 */
export const RECORD = ofDay(
  'pending.record',
  (day) => `
WITH found AS MATERIALIZED (
  SELECT d.id FROM unnest($1::uuid[]) AS j(id)
  JOIN LATERAL (
    SELECT id FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true
),
logged AS (
  INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, error, address,
    response_headers, response_body, truncated, worker)
  SELECT a.*, $19::text FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::timestamptz[],
    $5::integer[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[], $11::boolean[])
    AS a(id, lease, number, at, duration_ms, status, error, address, headers, body, truncated)
  WHERE a.id = ANY (ARRAY(SELECT id FROM found))
  -- Recorded before, in a statement whose answer did not reach us.
  ON CONFLICT DO NOTHING
),
recorded AS (
  UPDATE deliveries d
  SET attempts = greatest(d.attempts, ${OUTCOME.number}),
    claimed_until = NULL,
    state = CASE WHEN ${STAYS_CANCELLED} THEN d.state ELSE ${STATE} END,
    reason = CASE WHEN ${STAYS_CANCELLED} THEN d.reason ELSE ${REASON} END,
    next_attempt_at = CASE
      WHEN ${STATE} = 'pending' THEN now() + make_interval(secs => ${DELAY_MS} / 1000)
    END,
    completed_at = CASE WHEN ${STATE} <> 'pending' OR d.state = 'cancelled' THEN now() END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND ${withinDays('d.id', day)} AND ${IS_RECORDABLE}
)
SELECT id FROM found`,
);

/** Which of them there are, locked or not. $1 array: delivery. */
export const EXISTING = ofDay(
  'pending.existing',
  (day) => `SELECT id FROM deliveries d WHERE d.id ${isOneOf('$1')} AND ${withinDays('d.id', day)}`,
);

/** Which subscriptions have a backlog, so that what is accepted for them does not go onto the queue. */
export const MARK_BACKLOG = {
  name: 'pending.mark-backlog',
  text: setBacklog('true'),
};
export const CLEAR_BACKLOG = {
  name: 'pending.clear-backlog',
  text: setBacklog('false'),
};

/** A hint for accepting, so nobody waits for it to be written. $1 array: subscription. */
function setBacklog(value: 'true' | 'false'): string {
  return `
UPDATE webhooks SET backlog = ${value} WHERE id = ANY (ARRAY(
  SELECT id FROM webhooks WHERE id = ANY ($1::bigint[]) AND backlog <> ${value}
  FOR NO KEY UPDATE SKIP LOCKED
))`;
}

export const BACKLOGGED = {
  name: 'pending.backlogged',
  text: 'SELECT id FROM webhooks WHERE backlog',
};

/**
 * Looks at a day for what is pending, a step in the index for each subscription. Nothing is said of one that is off or
 * paused; of one that is blocked until a time, that it is due then.
 */
export const LOOK = ofDay(
  'pending.look',
  (day) => `
WITH RECURSIVE step AS (
  (SELECT webhook_id, next_attempt_at FROM deliveries
   WHERE state = 'pending' AND ${withinDays('id', day)}
   ORDER BY webhook_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.next_attempt_at
  FROM step CROSS JOIN LATERAL (
    SELECT webhook_id, next_attempt_at FROM deliveries
    WHERE state = 'pending' AND webhook_id > step.webhook_id AND ${withinDays('id', day)}
    ORDER BY webhook_id, next_attempt_at LIMIT 1
  ) next
)
SELECT w.id AS webhook_id, w.account_id, s.next_attempt_at::text AS since,
  (extract(epoch FROM greatest(s.next_attempt_at, w.hold_until, w.open_until) - now()) * 1000)::float8
    AS due_in_ms,
  w.open_until IS NOT NULL AS probe, false AS tests
FROM step s JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w
  ON w.enabled AND w.deleted_at IS NULL AND NOT w.paused
UNION ALL
SELECT d.webhook_id, d.account_id, d.next_attempt_at::text, 0, false, true FROM deliveries d
WHERE d.state = 'pending' AND d.immediate AND d.next_attempt_at <= now() AND ${withinDays('d.id', day)}`,
);
