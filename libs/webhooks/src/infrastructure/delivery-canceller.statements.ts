import { joinDeliveryByKey } from './delivery-by-key.js';

/**
 * Writes the cancelling of deliveries to their rows, $1 at a time. An attempt that is on its way
 * ends and is recorded, so its row is left to a later turn. Everything is judged again once the
 * row is locked: the delivery may have been taken, or sent anew under the present generation.
 */
export const CANCEL = {
  name: 'canceller.cancel',
  text: `
WITH off AS (
  SELECT id, generation, CASE WHEN deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(disabled_reason, 'disabled') END AS reason
  FROM webhooks WHERE cancelling
),
outdated AS (
  SELECT d.id, off.generation, off.reason FROM off CROSS JOIN LATERAL (
    SELECT id FROM deliveries
    WHERE webhook_id = off.id AND state = 'pending' AND generation < off.generation
      AND (NOT taken OR claimed_until <= now())
    -- The order of the index on what is pending: no other one may seem as good.
    ORDER BY next_attempt_at LIMIT $1::integer
  ) d
  LIMIT $1::integer
),
locked AS MATERIALIZED (
  SELECT d.id, o.reason FROM outdated o
  ${joinDeliveryByKey('o.id', { lock: 'FOR UPDATE SKIP LOCKED' })}
  WHERE d.state = 'pending' AND d.generation < o.generation
    AND (NOT d.taken OR d.claimed_until <= now())
)
UPDATE deliveries d
SET state = 'cancelled', reason = l.reason, completed_at = now(), claimed_until = NULL, taken = false
FROM locked l WHERE d.id = l.id
RETURNING d.id`,
};

/**
 * Ends the cancelling of subscriptions of which nothing is left. Not at once: an event that was
 * being accepted while the subscription was switched off may commit a little later.
 */
export const END_CANCELLING = {
  name: 'canceller.end',
  text: `
UPDATE webhooks w SET cancelling = false
WHERE w.cancelling AND greatest(w.updated_at, w.deleted_at) < now() - interval '1 minute'
  AND NOT EXISTS (
  SELECT FROM deliveries d
  WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.generation < w.generation
)`,
};
