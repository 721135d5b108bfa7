import { CLOCK, CLOCK_TIME, rowsFrom } from '#libs/runtime';
import { ofDay, withinDays } from '../../partitions/partition-days.js';

/**
 * Ends the leases of deliveries that did not get onto the queue: they are due at once, or keep their place if their
 * subscription is ordered. A locked row is due when its lease ends.
 */
export const END_QUEUE_LEASES = ofDay<{ ids: string[]; leases: number[] }>(
  'queue.end-leases',
  (day) => `
WITH ${CLOCK},
given AS MATERIALIZED (
  SELECT d.id FROM ${rowsFrom({ ids: 'uuid', leases: 'integer' })} AS j(id, lease)
  JOIN LATERAL (
    SELECT * FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON d.takes = j.lease AND d.claimed_until IS NOT NULL AND d.state IN ('pending', 'cancelled')
)
UPDATE deliveries d
SET claimed_until = NULL,
  next_attempt_at = CASE WHEN d.next_attempt_at = d.claimed_until THEN ${CLOCK_TIME}
    ELSE d.next_attempt_at END
WHERE d.id = ANY (ARRAY(SELECT id FROM given)) AND ${withinDays('d.id', day)}`,
);
