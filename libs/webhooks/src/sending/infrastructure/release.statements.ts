import { CLOCK, CLOCK_TIME, later } from '#libs/runtime';
import { elementOfDelivery } from '../../partitions/row-lookups.js';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import {
  IS_SENT_AT_PLACE,
  LEASE,
  type Leases,
  LEASES,
  lockedDelivery,
} from './pending-delivery.statements.js';
import { foundWithPlace, FREED } from './places.statements.js';
import { IS_ORDERED } from '../../subscriptions/webhook-flow.js';

type Releases = Leases & { delaysMs: number[]; timeoutMs: number };

/** Since when delivery `d` has been leased. It is due again from then on, so that it keeps its place. */
const LEASED_FOR = `greatest(interval '0', ${CLOCK_TIME} - d.claimed_until + ${LEASE})`;
const DELAY = `make_interval(secs => ${elementOfDelivery('@delaysMs::float8[]')} / 1000)`;
const DUE_AT = later(`${DELAY} - ${LEASED_FOR}`);

/** Whether delivery `d` still has the lease that ends. */
const IS_LEASED = `d.takes = ${elementOfDelivery('@leases::integer[]')} AND d.claimed_until IS NOT NULL
    AND d.state IN ('pending', 'cancelled')`;

/**
 * Ends the leases of unsent deliveries, whose ids are in order.
 * @returns the deliveries that were not locked; it may be repeated for the others
 */
export const RELEASE = ofDay<Releases, { id: string }>('pending.release', (day) =>
  release(day, {
    found: `SELECT d.id FROM ${LEASES} AS j(id, lease)${lockedDelivery(day)}`,
    nextAttemptAt: `CASE WHEN ${IS_SENT_AT_PLACE} THEN d.next_attempt_at ELSE ${DUE_AT} END`,
    notBefore: `CASE WHEN ${IS_SENT_AT_PLACE} THEN ${DUE_AT} ELSE d.not_before END`,
  }),
);

/**
 * Like {@link RELEASE} for deliveries that hold a place, which it frees. A delivery in order keeps its place in the
 * order. Returns those whose place is free.
 */
export const RELEASE_PLACE = ofDay<Releases, { id: string }>('pending.release-place', (day) =>
  release(day, {
    found: foundWithPlace(day),
    nextAttemptAt: `CASE WHEN ${IS_ORDERED} THEN d.created_at ELSE ${DUE_AT} END`,
    notBefore: `CASE WHEN ${IS_ORDERED} THEN ${DUE_AT} END`,
    further: `\n${FREED},`,
    where: 'WHERE webhook_id IS NOT NULL',
  }),
);

/** @param of `found`: selects and locks the rows; the others are as in {@link RELEASE} */
function release(
  day: Day,
  of: {
    found: string;
    nextAttemptAt: string;
    notBefore: string;
    further?: string;
    where?: string;
  },
): string {
  return `
WITH ${CLOCK},
found AS MATERIALIZED (
  ${of.found}
),${of.further ?? ''}
released AS (
  UPDATE deliveries d
  SET claimed_until = NULL, next_attempt_at = ${of.nextAttemptAt}, not_before = ${of.notBefore}
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND ${withinDays('d.id', day)}
    AND ${IS_LEASED}
)
SELECT id FROM found ${of.where ?? ''}`;
}
