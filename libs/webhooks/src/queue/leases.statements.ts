import { CLOCK, CLOCK_TIME, later, rowsFrom } from '#libs/runtime';
import type { DeliveryJob } from './domain/delivery-queue.js';
import { type Day, ofDay, withinDays } from '../partitions/partition-days.js';
import { elementOfDelivery, sortedById } from '../partitions/row-lookups.js';

/** Time of a lease beyond the timeout, in ms: to wait for the call, read the body and record the outcome. */
const BEYOND_TIMEOUT_MS = 15_000;

/**
 * The length of a lease, an interval. It is longer than any attempt, so that no delivery is sent twice while its
 * worker is alive. It is also the delay after a job or worker was lost.
 * @param retry the policy of the delivery's subscription; its timeout replaces `@timeoutMs`
 */
export const leaseOf = (retry: string): string =>
  `make_interval(secs => (coalesce((${retry} ->> 'timeoutMs')::float8, @timeoutMs::float8) + ${String(BEYOND_TIMEOUT_MS)}) / 1000)`;

/** The length of a lease of delivery `d`. */
export const LEASE = leaseOf('(SELECT retry FROM webhooks WHERE id = d.webhook_id)');

/** Whether the subscription of delivery `d` is ordered. */
export const IS_ORDERED = '(SELECT ordered FROM webhooks WHERE id = d.webhook_id)';

/** Whether its customer sends delivery `d` at once although it is ordered: it keeps its place, and those behind it wait. */
export const IS_SENT_AT_PLACE = `d.resumes_at IS NOT NULL AND ${IS_ORDERED}`;

/** Deliveries with the numbers of their leases. */
export interface Leases {
  ids: string[];
  leases: number[];
}

/** {@link Leases} as rows. */
export const LEASES = rowsFrom({ ids: 'uuid', leases: 'integer' });

/**
 * The place of a delivery in `in_flight` of a subscription that is ordered or limits its calls in flight. A claim takes it
 * until the end of its lease, and the record of the outcome frees it. The number of the lease keeps a worker that lost its
 * lease from freeing the place of another.
 */
export const placeOf = (id: string, lease: string): string => `${id} || ' ' || ${lease}`;

/**
 * The CTE `found` locks the deliveries of {@link LEASES}, but for those that are locked already. If they hold places, it also
 * locks their subscriptions, and `freed` frees the places. `answer` selects the deliveries for which that was possible.
 */
export function locking(day: Day, holdPlaces: boolean): { found: string; answer: string } {
  const deliveries = `FROM ${LEASES} AS j(id, lease)
  JOIN LATERAL (
    SELECT id, webhook_id, erased FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true`;
  if (!holdPlaces) {
    return {
      found: `found AS MATERIALIZED (\n  SELECT d.id, d.erased ${deliveries}\n)`,
      answer: 'SELECT id FROM found',
    };
  }
  return {
    found: `found AS MATERIALIZED (
  SELECT d.id, d.erased, w.id AS webhook_id, ${placeOf('d.id', 'j.lease')} AS place ${deliveries}
  LEFT JOIN LATERAL (
    SELECT id FROM webhooks WHERE id = d.webhook_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ) w ON true
),
freed AS (
  UPDATE webhooks w
  SET in_flight = w.in_flight - ARRAY(SELECT place FROM found WHERE webhook_id = w.id)
  WHERE w.id = ANY (ARRAY(SELECT webhook_id FROM found)) AND w.in_flight IS NOT NULL
)`,
    answer: 'SELECT id FROM found WHERE webhook_id IS NOT NULL',
  };
}

/** Since when delivery `d` has been leased. It is due again from then on, so that it keeps its place. */
const LEASED_FOR = `greatest(interval '0', ${CLOCK_TIME} - d.claimed_until + ${LEASE})`;
const DELAY = `make_interval(secs => ${elementOfDelivery('@delaysMs::float8[]')} / 1000)`;
const DUE_AT = later(`${DELAY} - ${LEASED_FOR}`);

/** Whether delivery `d` still has the lease that ends. */
const IS_LEASED = `d.takes = ${elementOfDelivery('@leases::integer[]')} AND d.claimed_until IS NOT NULL
    AND d.state IN ('pending', 'cancelled')`;

type Releases = ReturnType<typeof releasesOf>;

/** A lease to end; the delivery is then due after `delayMs`. */
export type Released = DeliveryJob & { delayMs?: number };

/** @param timeoutMs the default for subscriptions without a timeout */
export function releasesOf(released: readonly Released[], timeoutMs: number) {
  const sorted = sortedById(released);
  return {
    ids: sorted.map(({ id }) => id),
    leases: sorted.map(({ lease }) => lease),
    delaysMs: sorted.map(({ delayMs = 0 }) => delayMs),
    timeoutMs,
  };
}

/**
 * Ends the leases of deliveries that are not sent, or did not get onto the queue.
 * @returns the deliveries that were not locked; it may be repeated for the others
 */
export const RELEASE = ofDay<Releases, { id: string }>('pending.release', (day) =>
  release(
    day,
    locking(day, false),
    `next_attempt_at = CASE WHEN ${IS_SENT_AT_PLACE} THEN d.next_attempt_at ELSE ${DUE_AT} END,
    not_before = CASE WHEN ${IS_SENT_AT_PLACE} THEN ${DUE_AT} ELSE d.not_before END`,
  ),
);

/**
 * Like {@link RELEASE} for deliveries that hold a place, which it frees. A delivery in order keeps its place in the
 * order. Returns those whose place is free.
 */
export const RELEASE_PLACE = ofDay<Releases, { id: string }>('pending.release-place', (day) =>
  release(
    day,
    locking(day, true),
    `next_attempt_at = CASE WHEN ${IS_ORDERED} THEN d.created_at ELSE ${DUE_AT} END,
    not_before = CASE WHEN ${IS_ORDERED} THEN ${DUE_AT} END`,
  ),
);

/** @param due assigns when a delivery is due */
function release(day: Day, { found, answer }: ReturnType<typeof locking>, due: string): string {
  return `
WITH ${CLOCK},
${found},
released AS (
  UPDATE deliveries d
  SET claimed_until = NULL, ${due}
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND ${withinDays('d.id', day)}
    AND ${IS_LEASED}
)
${answer}`;
}
