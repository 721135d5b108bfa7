import { statement } from '#libs/runtime';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import type { SendConditions } from '../../subscriptions/domain/send-outlook.js';
import { SEND_CONDITIONS } from '../../subscriptions/webhook-flow.js';
import { IS_BEHIND } from '../replay-progress.statements.js';

/** Limits of the progress of a replay: subscriptions, and pending deliveries of each in some days. */
export const OUTLOOK = { subscriptions: 100, deliveries: 1_000, deliveriesOfAll: 10_000 };

interface ProgressOf {
  id: string;
  webhookId: string | undefined;
  accountId: string;
}

/** A subscription of a replay. */
export interface ReplayedSubscription extends SendConditions {
  id: string;
  /** How many of its deliveries the replay has not started yet. */
  remaining: number;
}

/** The subscriptions of a replay that are on: first those in which it has something left to do. */
export const REPLAYED_SUBSCRIPTIONS = statement<ProgressOf, ReplayedSubscription>(`
SELECT w.id, coalesce(p.remaining, 0) AS remaining, ${SEND_CONDITIONS}, ${IS_BEHIND} AS "isBehind"
FROM webhooks w JOIN replays r ON r.id = @id
  LEFT JOIN replay_parts p ON p.replay_id = r.id AND p.webhook_id = w.id AND p.generation = w.generation
    AND r.state = 'running'
WHERE w.account_id = @accountId AND w.enabled AND w.deleted_at IS NULL
  AND (@webhookId::bigint IS NULL OR w.id = @webhookId)
ORDER BY p.replay_id IS NULL, w.id LIMIT ${OUTLOOK.subscriptions}`);

/** How many days {@link countStarted} may cover. */
export const DAYS_STARTED = daysAtOnce('deliveries');

/** Which deliveries a replay has started. Times are in ISO 8601. */
interface StartedValues {
  webhookIds: string[];
  since: string;
  until: string;
  event: string | undefined;
  missed: boolean;
  limit: number;
}

/** Of a subscription, how many started deliveries are due or in flight, and how many wait for their next attempt. */
export interface Started {
  webhookId: string;
  due: number;
  inFlight: number;
  retried: number;
}

/**
 * Counts started deliveries that have not ended: restarted ones, and waiting ones that are to be tried at once. The
 * ids of those that were added to an event have `8fff` as their fourth group (`addedId`). Not prepared, because the best
 * plan depends on the times.
 */
export function countStarted(span: Span) {
  return statement<StartedValues, Started>(`
SELECT d.webhook_id AS "webhookId", count(*) FILTER (WHERE in_flight)::integer AS "inFlight",
  count(*) FILTER (WHERE NOT in_flight AND at <= now())::integer AS due,
  count(*) FILTER (WHERE NOT in_flight AND at > now())::integer AS retried
FROM unnest(@webhookIds::bigint[]) AS o(webhook_id)
  JOIN LATERAL (SELECT id, generation FROM webhooks WHERE id = o.webhook_id LIMIT 1) w ON true
  CROSS JOIN LATERAL (
    SELECT id, webhook_id, generation, event, replayed, resumes_at,
      coalesce(claimed_until > now(), false) AS in_flight, greatest(next_attempt_at, not_before) AS at
    FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND ${within('id', span)}
    ORDER BY next_attempt_at LIMIT @limit::integer
  ) d
WHERE d.generation = w.generation AND d.id >= least_uuid(@since::timestamptz) AND d.id < least_uuid(@until::timestamptz)
  AND (@event::text IS NULL OR d.event = @event)
  AND CASE WHEN @missed::boolean THEN d.id::text LIKE '________-____-____-8fff-%'
    ELSE d.replayed OR d.resumes_at IS NOT NULL END
GROUP BY d.webhook_id`);
}
