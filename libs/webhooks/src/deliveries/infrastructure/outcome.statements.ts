import { atPlaceOf, isOneOf } from './delivery-by-key.js';
import { ofDay, withinDays } from './partition-days.js';

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
