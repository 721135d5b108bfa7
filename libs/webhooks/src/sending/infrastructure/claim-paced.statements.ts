import { CLOCK, later, rowsFrom } from '#libs/runtime';
import { ofDay, withinDays } from '../../partitions/partition-days.js';
import { IS_OFF, IS_PACED, PACE } from '../../subscriptions/webhook-flow.js';
import {
  cancelOrLease,
  type ClaimedRow,
  type Claims,
  IS_CLAIMABLE,
  LEASE,
  loadClaimed,
  MAY_BE_SENT,
} from './pending-delivery.statements.js';
import { placeOf } from './places.statements.js';

/**
 * How late claims may be without a subscription losing any of its rate. It may send as many notifications at once as
 * its rate allows in this time, and one more.
 */
const CREDIT = `interval '100 ms'`;

/** Ids do not have the exact order of commits: a statement may have taken up to its timeout of 14 s. */
const SPARE = `interval '1 minute'`;

/** Deliveries that a pace holds: not tests, nor what customers send at once. */
const WAITS = `state = 'pending' AND NOT immediate`;

/** Deliveries that have a place in the order, also if customers send them at once. */
const HAS_ORDER = `state = 'pending' AND (NOT immediate OR resumes_at IS NOT NULL)`;

/**
 * Leases due deliveries of subscriptions with a pace: as many as it allows, and of an ordered one the first, if that
 * is due. Locking the subscription makes all workers keep the pace together: each sees what the one before has stored.
 *
 * `behind`: ordered subscriptions with deliveries of days before yesterday, which come first.
 */
export const CLAIM_PACED = ofDay<Claims & { behind: string[] }, ClaimedRow>(
  'pending.claim-paced',
  (day) => `
WITH ${CLOCK},
locked AS MATERIALIZED (
  SELECT w.*, a.most, greatest(w.paced_until, now() - ${CREDIT}) AS base,
    now() - make_interval(secs => a.due_for_ms / 1000) AS oldest
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT @webhookIds::bigint[]), (SELECT @most::integer[]), (SELECT @dueForMs::float8[]))
    AS a(webhook_id, most, due_for_ms)
  CROSS JOIN LATERAL (
    SELECT id, enabled, deleted_at, generation, paused, hold_until, open_until, max_per_second,
      max_concurrent, ordered, paced_until, in_flight, pace_waits
    FROM webhooks WHERE id = a.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w
  WHERE ${IS_PACED} AND ${MAY_BE_SENT} AND coalesce(w.paced_until <= now(), true)
    AND NOT (w.ordered AND w.id = ANY (@behind::bigint[]))
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
  SELECT d.id, w.id AS webhook_id, ${IS_OFF} AS is_off, d.claimed_until IS NOT NULL AS is_expired,
    d.number <= w.room AS fits
  FROM asked w CROSS JOIN LATERAL (
    SELECT due.*, row_number() OVER () AS number FROM (
      SELECT id, generation, claimed_until FROM deliveries
      WHERE webhook_id = w.id AND ${WAITS} AND ${IS_CLAIMABLE} AND next_attempt_at >= w.oldest
        AND ${withinDays('id', day)}
      ORDER BY next_attempt_at, id LIMIT w.room + 1
      FOR NO KEY UPDATE SKIP LOCKED
    ) due
  ) d
  WHERE NOT w.ordered
  UNION ALL
  SELECT d.id, w.id, ${IS_OFF}, d.claimed_until IS NOT NULL, first.number <= w.room
  FROM asked w
  CROSS JOIN LATERAL (
    -- Does not skip any, whatever its lease or lock: those behind it wait.
    SELECT due.id, row_number() OVER () AS number FROM (
      SELECT id FROM deliveries
      WHERE webhook_id = w.id AND ${HAS_ORDER} AND next_attempt_at >= w.oldest - ${SPARE}
        AND ${withinDays('id', day)}
      ORDER BY next_attempt_at, id LIMIT 2
    ) due
  ) first
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE id = first.id AND ${WAITS} AND ${IS_CLAIMABLE} AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
  WHERE w.ordered AND 0 = (SELECT count(*) FROM (
    SELECT FROM deliveries WHERE webhook_id = w.id AND ${HAS_ORDER} AND ${withinDays('id', day - 1)}
    ORDER BY next_attempt_at LIMIT 1
  ) earlier)
),${cancelOrLease(
    day,
    'fits',
    // In an ordered subscription, next_attempt_at is the place in the order.
    `CASE WHEN (SELECT ordered FROM asked WHERE id = d.webhook_id)
      THEN d.next_attempt_at ELSE ${later(LEASE)} END`,
  )},
counted AS MATERIALIZED (
  SELECT w.*, taken.count AS taken,
    w.base + make_interval(secs => coalesce(taken.count / w.max_per_second::float8, 0)) AS next,
    coalesce(w.live, '{}') || coalesce(taken.places, '{}') AS places,
    w.id = ANY (ARRAY(SELECT webhook_id FROM found WHERE NOT fits)) AS exceeds
  FROM asked w CROSS JOIN LATERAL (
    SELECT count(*) AS count, jsonb_object_agg(${placeOf('id', 'takes')}, claimed_until) AS places
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
${loadClaimed(
  day,
  `,
  (SELECT ${PACE} FROM asked w WHERE w.id = d.webhook_id) AS pace,
  (SELECT (extract(epoch FROM p.paced_until - now()) * 1000)::float8
   FROM paced p WHERE p.id = d.webhook_id AND p.max_per_second IS NOT NULL) AS "pacedMs"`,
)}`,
);

/** Which of these subscriptions have deliveries of a day that have not ended. */
export const HAVE_EARLIER = ofDay<{ webhookIds: string[] }, { id: string }>(
  'pending.have-earlier',
  (day) => `
SELECT w.id FROM ${rowsFrom({ webhookIds: 'bigint' })} AS w(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries WHERE webhook_id = w.id AND ${HAS_ORDER} AND ${withinDays('id', day)}
  ORDER BY next_attempt_at LIMIT 1
) earlier`,
);
