import { CLOCK, later, prepared, rowsFrom } from '#libs/runtime';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import { IS_SENT_AT_PLACE, LEASE, leaseOf, placeOf } from '../../queue/leases.statements.js';
import { countLosses } from '../../statistics/delivery-results.js';
import {
  IS_OFF,
  IS_PACED,
  IS_STOPPED,
  OFF_REASON,
  PACE,
} from '../../subscriptions/webhook-flow.js';
import {
  type EventlessRow,
  LEASED,
  type LeasedRow,
  loadLeased,
} from './pending-delivery.statements.js';

/** Reserves the probes of half-open circuits by opening them again for the length of a lease. */
export const PROBE = prepared<{ webhookIds: string[]; timeoutMs: number }, { id: string }>(
  'pending.probe',
  `
UPDATE webhooks w
SET open_until = now() + ${leaseOf('NULL::jsonb')}
WHERE w.id = ANY (ARRAY(
  SELECT id FROM webhooks WHERE id = ANY (@webhookIds::bigint[]) AND open_until <= now()
  FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING w.id`,
);

/** What to claim; the first three arrays have one element for each subscription. */
interface Claims {
  webhookIds: string[];
  most: number[];
  /**
   * Upper bounds of how long deliveries have been due. Older index entries are skipped, because an open
   * snapshot keeps the entries of finished deliveries in the index.
   */
  dueForMs: number[];
  /** Subscriptions whose probe is claimed. */
  probes: string[];
  /** The default for subscriptions without a timeout. */
  timeoutMs: number;
}

/** `isExpired`: whether the last lease ended without an outcome. */
type ClaimedRow = (LeasedRow | EventlessRow) & { isExpired: boolean };

/** Whether deliveries of subscription `w` may be claimed, as far as nothing but its pace is concerned. */
const MAY_BE_SENT = `NOT ${IS_STOPPED} AND (w.open_until IS NULL OR w.id = ANY (@probes::bigint[]))`;

/** Whether a claim may lease the delivery. The last condition matters after its subscription was ordered. */
const IS_CLAIMABLE = `next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now())`;

/** Leases the oldest due deliveries of each subscription without a pace, without the queue. */
export const CLAIM = ofDay<Claims, ClaimedRow>('pending.claim', (day) =>
  claim(day, 'NOT immediate', `${MAY_BE_SENT} AND NOT ${IS_PACED}`),
);

/** Like {@link CLAIM} for immediate deliveries, which are never blocked. */
export const CLAIM_IMMEDIATE = ofDay<Claims, ClaimedRow>('pending.claim-immediate', (day) =>
  claim(day, 'immediate', '@probes::bigint[] IS NOT NULL'),
);

function claim(day: Day, isAskedFor: string, mayBeSent: string): string {
  return `
WITH ${CLOCK},
-- Due deliveries without a lease; skips locked rows.
found AS MATERIALIZED (
  SELECT d.id, ${IS_OFF} AS is_off, d.claimed_until IS NOT NULL AS is_expired, true AS fits
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT @webhookIds::bigint[]), (SELECT @most::integer[]), (SELECT @dueForMs::float8[]))
    AS a(webhook_id, most, due_for_ms)
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = a.webhook_id LIMIT 1) w ON ${mayBeSent}
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE webhook_id = a.webhook_id AND state = 'pending' AND ${isAskedFor}
      AND ${IS_CLAIMABLE} AND next_attempt_at >= now() - make_interval(secs => a.due_for_ms / 1000)
      AND ${withinDays('id', day)}
    ORDER BY next_attempt_at, id LIMIT a.most
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
),${cancelOrLease(day, IS_SENT_AT_PLACE)}
${loadClaimed(day)}`;
}

/**
 * The deliveries `found` that fit into the pace: cancels those whose subscription is off, and leases the others.
 * @param keepsPlace whether `next_attempt_at` of delivery `d` is its place in an order, and stays
 */
const cancelOrLease = (day: Day, keepsPlace: string): string => `
-- Done here because these rows were found anyway.
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT ${OFF_REASON} FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND is_off)) AND ${withinDays('d.id', day)}
  RETURNING d.webhook_id, d.reason
),
lost AS (${countLosses('cancelled')}
),
leased AS (
  UPDATE deliveries d
  -- As the index on pending rows shows it as due when its lease ends, queries for due ones read no leased rows.
  SET takes = d.takes + 1, claimed_until = now() + ${LEASE},
    next_attempt_at = CASE WHEN ${keepsPlace} THEN d.next_attempt_at ELSE ${later(LEASE)} END
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE fits AND NOT is_off)) AND ${withinDays('d.id', day)}
  RETURNING ${LEASED}
)`;

/** Loads what {@link cancelOrLease} has leased. @param others further columns */
const loadClaimed = (day: Day, others = ''): string => `${loadLeased(
  day,
  `, w.id = ANY (@probes::bigint[]) AS "isProbe",
  d.id = ANY (ARRAY(SELECT id FROM found WHERE is_expired)) AS "isExpired"${others}`,
)}
ORDER BY d.id`;

/**
 * How late claims may be without a subscription losing any of its rate. It may send as many notifications at once as
 * its rate allows in this time, and one more.
 */
const CREDIT = `interval '100 ms'`;

/** Ids do not have the exact order of commits: a statement may have taken up to its timeout of 14 s. */
const SPARE = `interval '1 minute'`;

/** Deliveries that the pace delays: neither tests nor deliveries that customers send now. */
const WAITS = `state = 'pending' AND NOT immediate`;

/** Deliveries that have a place in the order, including those that customers send now. */
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
),${cancelOrLease(day, '(SELECT ordered FROM asked WHERE id = d.webhook_id)')},
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
