import { type NoValues, prepared, statement } from '#libs/runtime';
import type { DueWork } from './domain/due-schedule.js';
import { type Day, ofDay, withinDays } from '../partitions/partition-days.js';
import { PACE } from '../subscriptions/webhook-flow.js';

/** Marks subscriptions with a backlog, whose new deliveries must not go onto the queue. */
export const MARK_BACKLOG = prepared<{ webhookIds: string[] }>(
  'pending.mark-backlog',
  setBacklog(true),
);
/** Returns those that had the flag. A locked one keeps it. */
export const CLEAR_BACKLOG = prepared<{ webhookIds: string[] }, { id: string }>(
  'pending.clear-backlog',
  `
WITH cleared AS (${setBacklog(false)})
SELECT id FROM webhooks WHERE id = ANY (@webhookIds::bigint[]) AND backlog`,
);

/** The flag is only a hint for accepting events, so this skips locked rows. */
function setBacklog(backlog: boolean): string {
  return `
UPDATE webhooks SET backlog = ${String(backlog)} WHERE id = ANY (ARRAY(
  SELECT id FROM webhooks
  WHERE id = ANY (@webhookIds::bigint[]) AND backlog <> ${String(backlog)}
  FOR NO KEY UPDATE SKIP LOCKED
))`;
}

/** Skips through the index on a day's pending rows, with one step for each subscription. */
export const steps = (day: Day, { from = '', until = '' }): string => `
WITH RECURSIVE step AS (
  (SELECT webhook_id, next_attempt_at, 1 AS number FROM deliveries
   WHERE state = 'pending' AND ${withinDays('id', day)} ${from}
   ORDER BY webhook_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.next_attempt_at, step.number + 1
  FROM step CROSS JOIN LATERAL (
    SELECT webhook_id, next_attempt_at FROM deliveries
    WHERE state = 'pending' AND webhook_id > step.webhook_id AND ${withinDays('id', day)}
    ORDER BY webhook_id, next_attempt_at LIMIT 1
  ) next
  ${until}
)`;

const IS_SENT_TO = 'w.enabled AND w.deleted_at IS NULL AND NOT w.paused';
const inMs = (time: string): string => `(extract(epoch FROM ${time} - now()) * 1000)::float8`;

/** When the oldest delivery of a step may be sent. In an ordered subscription, it may be in flight or wait for a retry. */
const dueInMs = (day: Day): string =>
  inMs(`greatest(s.next_attempt_at, w.hold_until, w.open_until, w.paced_until,
    CASE WHEN w.ordered THEN (
      SELECT greatest(not_before, claimed_until) FROM deliveries
      WHERE webhook_id = s.webhook_id AND state = 'pending' AND next_attempt_at >= s.next_attempt_at
        AND ${withinDays('id', day)}
      ORDER BY next_attempt_at, id LIMIT 1
    ) END)`);

/** `accountId` is null if the subscription is disabled or paused. */
export interface LookRow extends Omit<Required<DueWork>, 'accountId' | 'day'> {
  number: number;
  accountId: string | null;
}

/**
 * Scans a day for pending deliveries: up to `limit` subscriptions and `limit` immediate deliveries. A subscription
 * that is disabled or paused has only an id. One that is blocked until a certain time is due at that time.
 */
export const LOOK = ofDay<{ after: string; limit: number }, LookRow>(
  'pending.look',
  (day) => `
${steps(day, { from: 'AND webhook_id > @after::bigint', until: 'WHERE step.number < @limit::integer' })}
SELECT s.number, s.webhook_id AS "webhookId", w.account_id AS "accountId", ${dueInMs(day)} AS "dueInMs",
  ${inMs('s.next_attempt_at')} AS "oldestInMs", w.open_until IS NOT NULL AS probe, false AS immediate,
  ${PACE} AS pace
FROM step s
LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON ${IS_SENT_TO}
UNION ALL
-- Tests, and what customers send at once: never blocked.
(SELECT 0, d.webhook_id, d.account_id, 0, '-Infinity', false, true, NULL FROM deliveries d
 WHERE d.state = 'pending' AND d.immediate AND d.next_attempt_at <= now() AND ${withinDays('d.id', day)}
   AND (d.not_before IS NULL OR d.not_before <= now())
 LIMIT @limit::integer)`,
);

/** How long the longest-due delivery of a day has been due. */
export const OLDEST_DUE = ofDay<NoValues, { ageMs: number | null }>(
  'pending.oldest-due',
  (day) => `
${steps(day, {})}
SELECT max(-${dueInMs(day)}) AS "ageMs"
FROM step s JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON ${IS_SENT_TO}`,
);

export function countPending(day: Day) {
  return statement<
    NoValues,
    { deliveries: number }
  >(`SELECT count(*)::float8 AS deliveries FROM deliveries
WHERE state = 'pending' AND ${withinDays('id', day)}`);
}
