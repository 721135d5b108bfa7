import { CLOCK, CLOCK_TIME, later } from '#libs/runtime';
import { elementOfDelivery } from '../../partitions/row-lookups.js';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import { IS_SENT_AT_PLACE, LEASE, type Leases, LEASES } from './pending-delivery.statements.js';
import { freed, IS_ORDERED, LOCK_SUBSCRIPTION, placeOf } from './places.statements.js';

type Releases = Leases & { delaysMs: number[]; timeoutMs: number };

/** Since when delivery `d` has been leased. It is due again from then on, so that it keeps its place. */
const LEASED_FOR = `greatest(interval '0', ${CLOCK_TIME} - d.claimed_until + ${LEASE})`;
const DELAY = `make_interval(secs => ${elementOfDelivery('@delaysMs::float8[]')} / 1000)`;
const DUE_AT = later(`${DELAY} - ${LEASED_FOR}`);

/** Deliveries whose lease has this number and has not ended. */
const stillLeased = (day: Day): string => `${LEASES} AS j(id, lease)
  JOIN LATERAL (
    SELECT * FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON d.takes = j.lease AND d.claimed_until IS NOT NULL
    AND d.state IN ('pending', 'cancelled')`;

/** Ends the leases of unsent deliveries, whose ids are in order. */
export const RELEASE = ofDay<Releases>(
  'pending.release',
  (day) => `
WITH ${CLOCK},
given AS MATERIALIZED (
  SELECT d.id FROM ${stillLeased(day)}
)
UPDATE deliveries d
SET claimed_until = NULL,
  next_attempt_at = CASE WHEN ${IS_SENT_AT_PLACE} THEN d.next_attempt_at ELSE ${DUE_AT} END,
  not_before = CASE WHEN ${IS_SENT_AT_PLACE} THEN ${DUE_AT} ELSE d.not_before END
WHERE d.id = ANY (ARRAY(SELECT id FROM given)) AND ${withinDays('d.id', day)}`,
);

/**
 * Like {@link RELEASE} for deliveries that hold a place, which it frees. A delivery in order keeps its place in the
 * order. Returns those whose place is free, and may be repeated for the others.
 */
export const RELEASE_PLACE = ofDay<Releases, { id: string }>(
  'pending.release-place',
  (day) => `
WITH ${CLOCK},
given AS MATERIALIZED (
  SELECT d.id FROM ${stillLeased(day)}
),
held AS MATERIALIZED (
  SELECT j.id, w.id AS webhook_id, ${placeOf('j.id', 'j.lease')} AS place
  FROM ${LEASES} AS j(id, lease)
  JOIN LATERAL (
    SELECT webhook_id FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
  ) d ON true
  ${LOCK_SUBSCRIPTION}
),
${freed('held')},
released AS (
  UPDATE deliveries d
  SET claimed_until = NULL,
    next_attempt_at = CASE WHEN ${IS_ORDERED} THEN d.created_at ELSE ${DUE_AT} END,
    not_before = CASE WHEN ${IS_ORDERED} THEN ${DUE_AT} END
  WHERE d.id = ANY (ARRAY(SELECT id FROM given)) AND ${withinDays('d.id', day)}
)
SELECT id FROM held WHERE webhook_id IS NOT NULL`,
);
