import { ofDay, withinDays } from './partition-days.js';
import { IS_STOPPED } from './webhook-flow.js';

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

/** Those that have one, as far as is known, and are sent to now. */
export const BACKLOGGED = {
  name: 'pending.backlogged',
  text: `SELECT id FROM webhooks w WHERE backlog AND open_until IS NULL AND NOT ${IS_STOPPED}`,
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
