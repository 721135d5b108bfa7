import { CLOCK, CLOCK_TIME, later, rowsFrom } from '#libs/runtime';
import { elementOfDelivery, IS_ONE_OF_IDS } from '../../partitions/row-lookups.js';
import type { Conclusion, Outcome } from '../domain/pending-deliveries.js';
import { sentText } from '../../deliveries/attempts.statements.js';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import { IS_ORDERED, locking } from '../../queue/leases.statements.js';

/** The elements for delivery `d` in the arrays of {@link RECORD}. */
const OUTCOME = {
  lease: elementOfDelivery('@leases::integer[]'),
  number: elementOfDelivery('@numbers::integer[]'),
  base: elementOfDelivery('@scheduleBases::integer[]'),
  state: elementOfDelivery('@states::text[]'),
  reason: elementOfDelivery('@reasons::text[]'),
  delayMs: elementOfDelivery('@delaysMs::float8[]'),
  resumes: elementOfDelivery('@resumes::boolean[]'),
  restartedState: elementOfDelivery('@restartedStates::text[]'),
  restartedReason: elementOfDelivery('@restartedReasons::text[]'),
  restartedDelayMs: elementOfDelivery('@restartedDelaysMs::float8[]'),
};

/** The columns of attempts. */
const ATTEMPTS = {
  ids: 'uuid',
  leases: 'integer',
  numbers: 'integer',
  at: 'timestamptz',
  durationsMs: 'integer',
  statuses: 'integer',
  errors: 'text',
  addresses: 'text',
  headers: 'text',
  bodies: 'text',
  truncated: 'boolean',
  sent: 'text',
};

/** Whether the conclusion's schedule is still the present one. */
const IN_SCHEDULE = `d.schedule_base = ${OUTCOME.base}`;
const STATE = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.state} ELSE ${OUTCOME.restartedState} END`;
const REASON = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.reason} ELSE ${OUTCOME.restartedReason} END`;
/** Whether the attempt was outside the schedule, which goes on. */
const RESUMES = `(${IN_SCHEDULE} AND ${OUTCOME.resumes})`;
const DELAY_MS = `CASE WHEN ${IN_SCHEDULE} THEN ${OUTCOME.delayMs} ELSE ${OUTCOME.restartedDelayMs} END`;

/**
 * Whether an outcome may change its delivery: it must have the delivery's present lease. An outcome that
 * arrives twice is logged once and changes nothing. One that arrives under an older lease is counted, and ends the
 * delivery only if it is a success in the present schedule, because the notification was delivered. Cancelled rows match
 * as well, because an attempt that was in flight when its subscription was disabled still counts, and so do those that
 * a late success has ended since, whose lease is to end.
 */
const IS_RECORDABLE = `(
    d.takes = ${OUTCOME.lease} AND (d.state = 'succeeded'
      OR d.state IN ('pending', 'cancelled') AND (d.attempts = ${OUTCOME.number} - 1
        -- A late attempt was counted with the same number.
        OR d.attempts = ${OUTCOME.number} AND d.claimed_until IS NOT NULL))
    OR ${OUTCOME.state} = 'succeeded' AND ${OUTCOME.number} > d.schedule_base
      AND d.state <> 'succeeded'
  )`;

/** Whether an outcome under an older lease only counts. */
const IS_LATE = `(d.takes <> ${OUTCOME.lease} AND d.attempts < ${OUTCOME.number}
    AND (d.state = 'succeeded' OR ${OUTCOME.state} <> 'succeeded'))`;

/** Only a success changes a cancelled delivery whose attempt was in flight, and nothing changes a success. */
const KEEPS_STATE = `(d.state = 'succeeded' OR d.state = 'cancelled' AND ${OUTCOME.state} <> 'succeeded')`;

/** Whether the answer of attempt `a` is stored: it may repeat data that were erased during the attempt. */
const IS_KEPT = 'a.id <> ALL (ARRAY(SELECT id FROM found WHERE erased))';

/** When a delivery is tried again; null if it is not. */
const RETRY_AT = `CASE
      WHEN d.state <> 'succeeded' AND ${STATE} = 'pending'
        THEN greatest(${later(`make_interval(secs => ${DELAY_MS} / 1000)`)}, CASE WHEN ${RESUMES} THEN d.resumes_at END)
    END`;

/** Assigns when a delivery is tried again. In an ordered subscription, it waits for that at its place. */
const retry = (
  isOrdered: string,
): string => `next_attempt_at = CASE WHEN ${isOrdered} THEN d.created_at ELSE ${RETRY_AT} END,
    not_before = CASE WHEN ${isOrdered} THEN ${RETRY_AT} END`;

/**
 * Records attempts and their effects. All arrays have the order of `@ids`.
 * @returns the deliveries that were not locked
 */
export const RECORD = ofDay<OutcomeValues & { worker: string }, { id: string }>(
  'pending.record',
  // Sent at once by its customer, it holds no place, whatever the pace.
  (day) => record(day, locking(day, false), retry(`${RESUMES} AND ${IS_ORDERED}`)),
);

/**
 * Like {@link RECORD} for deliveries that hold a place, which it frees. A delivery in order waits for its retry at its
 * place. Returns those whose place is free, and may be repeated for the others.
 */
export const RECORD_PLACE = ofDay<OutcomeValues & { worker: string }, { id: string }>(
  'pending.record-place',
  (day) => record(day, locking(day, true), retry(IS_ORDERED)),
);

/** @param nextAttempt assigns the time of the next attempt */
function record(
  day: Day,
  { found, answer }: ReturnType<typeof locking>,
  nextAttempt: string,
): string {
  return `
WITH
${CLOCK},
-- Skips locked rows; the caller retries them separately.
${found},
-- Logs every attempt, even if it is too late to change its delivery.
logged AS (
  INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, error, address,
    response_headers, response_body, truncated, sent, worker)
  SELECT a.id, a.lease, a.number, a.at, a.duration_ms, a.status, a.error, a.address,
    CASE WHEN ${IS_KEPT} THEN a.headers END, CASE WHEN ${IS_KEPT} THEN a.body END, a.truncated, a.sent, @worker::text
  FROM ${rowsFrom(ATTEMPTS)}
    AS a(id, lease, number, at, duration_ms, status, error, address, headers, body, truncated,
      sent)
  WHERE a.id = ANY (ARRAY(SELECT id FROM found))
  -- It was already recorded by a statement whose answer got lost.
  ON CONFLICT DO NOTHING
),
-- Finishes the delivery or schedules its next attempt, and ends the lease.
recorded AS (
  UPDATE deliveries d
  SET attempts = greatest(d.attempts, ${OUTCOME.number}),
    -- A late success does not end the lease of another worker, which may be sending it.
    claimed_until = CASE WHEN d.takes <> ${OUTCOME.lease} THEN d.claimed_until END,
    state = CASE WHEN ${KEEPS_STATE} THEN d.state ELSE ${STATE} END,
    reason = CASE WHEN ${KEEPS_STATE} THEN d.reason ELSE ${REASON} END,
    ${nextAttempt},
    -- A request to send it at once has had its attempt.
    immediate = false,
    resumes_at = NULL,
    extra_attempts = CASE WHEN ${RESUMES} AND d.attempts < ${OUTCOME.number} THEN coalesce(d.extra_attempts, 0) + 1 ELSE d.extra_attempts END,
    completed_at = CASE
      WHEN d.state = 'succeeded' THEN d.completed_at
      WHEN ${STATE} <> 'pending' OR d.state = 'cancelled' THEN ${CLOCK_TIME}
    END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND ${withinDays('d.id', day)} AND ${IS_RECORDABLE}
),
counted AS (
  UPDATE deliveries d SET attempts = ${OUTCOME.number}
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND ${withinDays('d.id', day)} AND ${IS_LATE}
)
${answer}`;
}

/** Which of the deliveries exist, locked or not. */
export const EXISTING = ofDay<{ ids: string[] }, { id: string }>(
  'pending.existing',
  (day) => `SELECT id FROM deliveries d WHERE d.id ${IS_ONE_OF_IDS} AND ${withinDays('d.id', day)}`,
);

export type OutcomeValues = ReturnType<typeof outcomeValues>;

/** Converts outcomes to arrays, one for each column. @param outcomes sorted by id */
export function outcomeValues(outcomes: readonly Outcome[]) {
  const attempts = outcomes.map((outcome) => outcome.attempt);
  const conclusions = outcomes.map((outcome) => outcome.conclusion);
  const restarted = outcomes.map((outcome) => outcome.ifRestarted);
  return {
    ids: outcomes.map((outcome) => outcome.id),
    leases: outcomes.map((outcome) => outcome.lease),
    numbers: attempts.map((attempt) => attempt.number),
    at: attempts.map((attempt) => attempt.at.toISOString()),
    durationsMs: attempts.map((attempt) => Math.round(attempt.durationMs)),
    statuses: attempts.map((attempt) => attempt.status),
    errors: attempts.map((attempt) => attempt.error),
    addresses: attempts.map((attempt) => attempt.address),
    headers: attempts.map(
      ({ responseHeaders }) => responseHeaders && JSON.stringify(responseHeaders),
    ),
    bodies: attempts.map((attempt) => attempt.responseBody),
    truncated: attempts.map((attempt) => attempt.truncated),
    sent: attempts.map(sentText),
    scheduleBases: outcomes.map((outcome) => outcome.scheduleBase),
    states: conclusions.map(({ state }) => state),
    reasons: conclusions.map(reasonOf),
    delaysMs: conclusions.map(delayMsOf),
    resumes: conclusions.map((conclusion) => 'resumes' in conclusion),
    restartedStates: restarted.map(({ state }) => state),
    restartedReasons: restarted.map(reasonOf),
    restartedDelaysMs: restarted.map(delayMsOf),
  };
}

function reasonOf(conclusion: Conclusion): string | undefined {
  return 'reason' in conclusion ? conclusion.reason : undefined;
}

function delayMsOf(conclusion: Conclusion): number | undefined {
  return 'delayMs' in conclusion ? conclusion.delayMs : undefined;
}
