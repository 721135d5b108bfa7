import { joinDeliveryByKey } from './delivery-by-key.js';
import { IS_HELD } from './webhook-flow.js';

/** Of every subscription that has something due. */
const DUE_OF_ALL = `
  SELECT * FROM (
    SELECT d.*, row_number() OVER (PARTITION BY webhook_id ORDER BY next_attempt_at, id) AS place
    FROM due_deliveries($3::integer) d
  ) ranked
  WHERE place <= $3::integer`;

/** Of the subscriptions whose deliveries just finished. */
const DUE_OF_GIVEN = `
  SELECT w.id AS webhook_id, w.account_id, d.id, d.next_attempt_at, d.claimed_until, d.place
  FROM webhooks w CROSS JOIN LATERAL (
    SELECT id, next_attempt_at, claimed_until, row_number() OVER (ORDER BY next_attempt_at, id) AS place
    FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND generation = w.generation
    ORDER BY next_attempt_at, id LIMIT $3::integer
  ) d
  WHERE w.id = ANY ($9::bigint[]) AND w.failing_since IS NULL
    AND w.enabled AND w.deleted_at IS NULL AND NOT ${IS_HELD}`;

/** After a circuit closed, calls grow by so many a second, all workers together, for so long. */
const RECOVERY = { callsPerS: 2, interval: '1 minute' };

/**
 * What may be in the window of subscription `w`: a single probe while its circuit is open, more and
 * more after it closed, else NULL: any number.
 */
const CIRCUIT_CALLS = `CASE
      WHEN w.open_until IS NOT NULL THEN 1
      WHEN w.closed_at > now() - interval '${RECOVERY.interval}'
      THEN 1 + floor(extract(epoch FROM now() - w.closed_at) * ${RECOVERY.callsPerS})::integer
    END`;

/** So many of an account that has its share are tried at a look. */
const IDLE_SUBSCRIPTIONS = 8;

/** Those of `chosen` that are still to be claimed, locked. */
const PICKED = `picked AS MATERIALIZED (
  SELECT d.id, d.claimed_until IS NOT NULL AS expired FROM chosen c
  ${joinDeliveryByKey('c.id', { lock: 'FOR UPDATE SKIP LOCKED' })}
  WHERE d.state = 'pending' AND (d.claimed_until IS NULL OR d.claimed_until <= now())
)`;

/** $2 lease in ms. */
const CLAIM_PICKED = `UPDATE deliveries d
SET taken = false, claimed_until = now() + make_interval(secs => $2::float8 / 1000)
FROM picked p WHERE d.id = p.id
RETURNING d.id, d.attempts, d.webhook_id, d.immediate, p.expired`;

/**
 * Claims due deliveries for the queue, $1 at the most; $2 lease in ms. Of each subscription the
 * oldest $3 that are due may be in the window, less of those that have earned less: $6 says how many
 * of which, $7 how many of all others. Those of them that are not yet in it (or whose
 * claim ended) come in, in turn over accounts, and within an account over subscriptions, oldest first.
 * No more than make $4 of an account in the window, and of a subscription no more than the part $5
 * of what is left of that, since workers would only hand them back; but one of each of the first few
 * subscriptions with nothing in the window, which workers keep a slot for. All that fail together
 * have no more than $8 in the window, whoever they belong to. A subscription that is off or held is
 * passed over in one step. One of which more is due than may come in is marked as having a
 * backlog: what is accepted for it waits its turn.
 *
 * @param due the deliveries that may be in the window
 * @param given restricts the subscriptions `w` that are looked at for a backlog that has gone
 */
function feed(name: string, due: string, given: string): { name: string; text: string } {
  return {
    name,
    text: `
WITH due AS MATERIALIZED (
  SELECT d.*, w.failing_since IS NOT NULL AS failing,
    -- Not a join, for which the planner would compare each delivery with each subscription that earned any.
    least($3::integer, coalesce(($6::jsonb ->> w.id::text)::integer, $7::integer), ${CIRCUIT_CALLS})
      AS share
  FROM (${due}
  ) d
  JOIN webhooks w ON w.id = d.webhook_id
),
waiting AS MATERIALIZED (
  SELECT id, next_attempt_at, turn FROM (
    SELECT id, next_attempt_at, claimed_until, place, share, failing,
      count(*) FILTER (WHERE claimed_until > now()) OVER (PARTITION BY account_id) AS claimed,
      row_number() OVER (
        PARTITION BY account_id
        ORDER BY claimed_until > now() DESC NULLS LAST, place > share, place, next_attempt_at
      ) AS turn,
      row_number() OVER (
        PARTITION BY account_id, place = 1 AND claimed_until > now() IS NOT TRUE
        ORDER BY next_attempt_at
      ) AS turn_of_idle,
      row_number() OVER (
        PARTITION BY failing
        ORDER BY claimed_until > now() DESC NULLS LAST, place > share, place, next_attempt_at
      ) AS turn_of_failing
    FROM due
  ) AS ranked
  WHERE claimed_until > now() IS NOT TRUE AND (NOT failing OR turn_of_failing <= $8::integer) AND (
    turn <= $4::integer AND place <= share AND place <= ceil(($4::integer - claimed) * $5::float8)
    OR place = 1 AND turn_of_idle <= ${IDLE_SUBSCRIPTIONS}
  )
),
chosen AS MATERIALIZED (
  SELECT id FROM waiting ORDER BY turn, next_attempt_at LIMIT $1::integer
),
${PICKED},
filled AS (
  SELECT webhook_id, bool_or(claimed_until IS NULL) AS waits
  FROM due GROUP BY webhook_id
  HAVING count(*) >= min(share)
    -- Some found no room, and some are in the window: when these are done, the others may come in.
    OR bool_or(claimed_until > now() IS NOT TRUE AND id NOT IN (SELECT id FROM chosen))
      AND bool_or(claimed_until > now() OR id IN (SELECT id FROM chosen))
),
backlogs AS (
  SELECT webhook_id, true AS backlog FROM filled WHERE waits
  UNION ALL
  SELECT w.id, false FROM webhooks w
  WHERE w.backlog AND w.failing_since IS NULL AND NOT ${IS_HELD} ${given}
    AND w.id NOT IN (SELECT webhook_id FROM filled)
),
changing AS MATERIALIZED (
  SELECT w.id, b.backlog FROM backlogs b JOIN webhooks w ON w.id = b.webhook_id
  WHERE w.backlog <> b.backlog
  -- The next look will do: it must wait for nobody, and nobody for it in a circle.
  FOR NO KEY UPDATE OF w SKIP LOCKED
),
changed AS (
  UPDATE webhooks w SET backlog = c.backlog FROM changing c WHERE w.id = c.id
)
${CLAIM_PICKED}`,
  };
}

/** Claims what waits for nothing: up to $1 tests, whatever holds their subscriptions; $2 lease in ms. */
export const FEED_IMMEDIATE = {
  name: 'feeder.immediate',
  text: `
WITH chosen AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE state = 'pending' AND immediate AND next_attempt_at <= now()
    AND (claimed_until IS NULL OR claimed_until <= now())
  ORDER BY id LIMIT $1::integer
),
${PICKED}
${CLAIM_PICKED}`,
};

export const FEED_ALL = feed('feeder.all', DUE_OF_ALL, '');
export const FEED_GIVEN = feed('feeder.given', DUE_OF_GIVEN, 'AND w.id = ANY ($9::bigint[])');
