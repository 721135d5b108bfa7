import { joinDeliveryByKey } from './delivery-by-key.js';

/** Of every subscription that has something due. */
const DUE_OF_ALL = `
  SELECT * FROM (
    SELECT d.*, row_number() OVER (PARTITION BY webhook_id ORDER BY next_attempt_at) AS place
    FROM due_deliveries($1::integer) d
  ) ranked
  WHERE place <= $1::integer`;

/** Of the subscriptions whose deliveries just finished. */
const DUE_OF_GIVEN = `
  SELECT w.id AS webhook_id, w.account_id, d.id, d.next_attempt_at, d.claimed_until
  FROM webhooks w CROSS JOIN LATERAL (
    SELECT id, next_attempt_at, claimed_until FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND generation = w.generation
    ORDER BY next_attempt_at LIMIT $1::integer
  ) d
  WHERE w.id = ANY ($5::bigint[])
    AND w.enabled AND w.deleted_at IS NULL AND (w.hold_until IS NULL OR w.hold_until <= now())`;

/**
 * Claims due deliveries for the queue. Of each subscription the oldest $1 that are due may be in
 * the window; those of them that are not yet (or whose claim ended) come in, in turn over
 * accounts, oldest first, $2 at the most; $3 lease in ms; and no more than make $4 of an account in
 * the window, since workers would only hand them back. A subscription that is off or held is
 * passed over in one step. Tests wait for nothing. A subscription of which more is due than may
 * come in is marked as having a backlog: what is accepted for it waits its turn.
 *
 * @param due the deliveries that may be in the window
 * @param given restricts the subscriptions `w` that are looked at for a backlog that has gone
 */
function feed(name: string, due: string, given: string): { name: string; text: string } {
  return {
    name,
    text: `
WITH due AS MATERIALIZED (${due}
),
waiting AS MATERIALIZED (
  SELECT id, next_attempt_at, turn FROM (
    SELECT id, next_attempt_at, claimed_until, row_number() OVER (
      PARTITION BY account_id ORDER BY claimed_until > now() DESC NULLS LAST, next_attempt_at
    ) AS turn
    FROM due
  ) AS ranked
  WHERE turn <= $4::integer AND (claimed_until IS NULL OR claimed_until <= now())
  UNION ALL
  SELECT id, next_attempt_at, 0 FROM deliveries
  WHERE state = 'pending' AND test AND next_attempt_at <= now()
    AND (claimed_until IS NULL OR claimed_until <= now())
),
chosen AS MATERIALIZED (
  SELECT DISTINCT id FROM (
    SELECT id FROM waiting ORDER BY turn, next_attempt_at LIMIT $2::integer
  ) AS foremost
),
picked AS MATERIALIZED (
  SELECT d.id, d.claimed_until IS NOT NULL AS expired FROM chosen c
  ${joinDeliveryByKey('c.id', 'FOR UPDATE SKIP LOCKED')}
  WHERE d.state = 'pending' AND (d.claimed_until IS NULL OR d.claimed_until <= now())
),
filled AS (
  SELECT webhook_id, bool_or(claimed_until IS NULL) AS waits
  FROM due GROUP BY webhook_id HAVING count(*) >= $1::integer
),
marked AS (
  UPDATE webhooks w SET backlog = true
  FROM filled f WHERE w.id = f.webhook_id AND f.waits AND NOT w.backlog
),
unmarked AS (
  UPDATE webhooks w SET backlog = false
  WHERE w.backlog ${given} AND w.id NOT IN (SELECT webhook_id FROM filled)
)
UPDATE deliveries d
SET taken = false, claimed_until = now() + make_interval(secs => $3::float8 / 1000)
FROM picked p WHERE d.id = p.id
RETURNING d.id, d.attempts, d.webhook_id, p.expired`,
  };
}

export const FEED_ALL = feed('feeder.all', DUE_OF_ALL, '');
export const FEED_GIVEN = feed('feeder.given', DUE_OF_GIVEN, 'AND w.id = ANY ($5::bigint[])');
