import { type NoValues, prepared, statement } from '#libs/runtime';
import { type Day, ofDay, withinDays } from './partition-days.js';

/** Which subscriptions have a backlog, so that what is accepted for them does not go onto the queue. */
export const MARK_BACKLOG = setBacklog('pending.mark-backlog', true);
export const CLEAR_BACKLOG = setBacklog('pending.clear-backlog', false);

/** A hint for accepting, so nobody waits for it to be written. */
function setBacklog(name: string, backlog: boolean) {
  return prepared<{ webhookIds: string[] }, { id: string }>(
    name,
    `
UPDATE webhooks SET backlog = ${String(backlog)} WHERE id = ANY (ARRAY(
  SELECT id FROM webhooks
  WHERE id = ANY (@webhookIds::bigint[]) AND backlog <> ${String(backlog)}
  FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING id`,
  );
}

/** Steps in the index on what is pending of a day, one for each subscription. */
const steps = (day: Day, { from = '', until = '' }): string => `
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
const DUE_IN_MS = inMs('greatest(s.next_attempt_at, w.hold_until, w.open_until)');

export interface LookRow {
  number: number;
  webhook_id: string;
  /** Null of a subscription to which nothing is sent now. */
  account_id: string | null;
  due_in_ms: number;
  oldest_in_ms: number;
  probe: boolean;
  tests: boolean;
}

/**
 * Looks at a day for what is pending: so many subscriptions of it, and so many tests. Of a subscription
 * that is off or paused there is nothing but its id; one that is blocked until a time is due then.
 */
export const LOOK = ofDay<{ after: string; limit: number }, LookRow>(
  'pending.look',
  (day) => `
${steps(day, { from: 'AND webhook_id > @after::bigint', until: 'WHERE step.number < @limit::integer' })}
SELECT s.number, s.webhook_id, w.account_id, ${DUE_IN_MS} AS due_in_ms,
  ${inMs('s.next_attempt_at')} AS oldest_in_ms, w.open_until IS NOT NULL AS probe, false AS tests
FROM step s
LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON ${IS_SENT_TO}
UNION ALL
-- Tests, which nothing blocks.
(SELECT 0, d.webhook_id, d.account_id, 0, '-Infinity', false, true FROM deliveries d
 WHERE d.state = 'pending' AND d.immediate AND d.next_attempt_at <= now() AND ${withinDays('d.id', day)}
 LIMIT @limit::integer)`,
);

/** For how long the delivery of a day that is due for longest has been due. */
export const OLDEST_DUE = ofDay<NoValues, { age_ms: number | null }>(
  'pending.oldest-due',
  (day) => `
${steps(day, {})}
SELECT max(-${DUE_IN_MS}) AS age_ms
FROM step s JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON ${IS_SENT_TO}`,
);

export function countPending(day: Day) {
  return statement<
    NoValues,
    { deliveries: number }
  >(`SELECT count(*)::float8 AS deliveries FROM deliveries
WHERE state = 'pending' AND ${withinDays('id', day)}`);
}

/**
 * Which of the days hold anything pending. Asked in the order of the index on what is pending:
 * EXISTS would read whole partitions where statistics promise a quick find.
 */
export function findPendingDays(days: readonly Day[]) {
  const ofEach = days.map(
    (day) => `(SELECT ${day} AS day FROM deliveries
WHERE state = 'pending' AND ${withinDays('id', day)}
ORDER BY webhook_id, next_attempt_at LIMIT 1)`,
  );
  return statement<NoValues, { day: Day }>(ofEach.join(' UNION ALL '));
}
