import { prepared, statement } from '#libs/runtime';
import { joinDeliveryByKey } from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import { IS_BLOCKED } from '../../subscriptions/webhook-flow.js';
import { IS_BEHIND } from '../replay-progress.statements.js';

/** How many days {@link findWaiting} may cover. */
export const DAYS_WAITING = daysAtOnce('deliveries');

/** How many days {@link continueReplay} may cover: one less, because it also locks the indexes of `replays`. */
export const DAYS_REPLAYED = daysAtOnce('deliveries', 'deliveries') - 1;

/**
 * How many due deliveries of a subscription wait, up to a limit, and whether any is about to be
 * cancelled. A replay waits for the cancelling, or it would miss these deliveries.
 */
export function findWaiting(span: Span) {
  return statement<{ webhookId: string; limit: number }, { due: number; outdated: boolean }>(`
SELECT (SELECT count(*)::integer FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND (claimed_until IS NULL OR claimed_until <= now()) AND ${within('id', span)}
    -- The order of the index on pending rows, so that the planner prefers no other index.
    ORDER BY next_attempt_at LIMIT @limit::integer
  ) due) AS due,
  w.cancelling AND 0 < (SELECT count(*) FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation < w.generation
      AND ${within('id', span)}
    ORDER BY next_attempt_at LIMIT 1
  ) outdated) AS outdated
FROM webhooks w WHERE w.id = @webhookId`);
}

/** A batch of a replay. */
interface ReplayBatch {
  id: string;
  webhookId: string;
  /** The position before the batch, its last delivery, and whether it is the last one of the subscription. */
  after: string;
  to: string;
  isEnd: boolean;
}

/**
 * Starts a batch and stores the replay's progress, in the same statement.
 * @param chosen selects what is started for `job`, which has no row if the replay may not continue
 */
const progressWith = (chosen: string): string => `
WITH
-- Only if no other worker has advanced the replay and it may still continue: a subscription's replays wait for each
-- other, whether they are of it alone or of its account.
job AS MATERIALIZED (
  SELECT r.id, r.states, w.id AS target, w.generation AS present, w.ordered, now() AS at
  FROM replays r JOIN replay_parts p ON p.replay_id = r.id
    JOIN webhooks w ON w.id = p.webhook_id
  WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL
    AND w.generation = p.generation
    AND NOT ${IS_BLOCKED}
    AND NOT ${IS_BEHIND}
    AND r.id = @id AND w.id = @webhookId AND p.after = @after
  FOR UPDATE OF r, p SKIP LOCKED
),
${chosen},
-- New deliveries are sent after the replayed ones.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.target AND NOT w.backlog AND EXISTS (SELECT FROM chosen)
),
advanced AS (
  UPDATE replay_parts p SET after = @to,
    -- Others may have become exhausted in the time range meanwhile.
    remaining = greatest(p.remaining - (SELECT count(*) FROM chosen), 0)
  FROM job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND NOT @isEnd::boolean
),
ended AS (
  DELETE FROM replay_parts p USING job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND @isEnd
)
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM chosen),
  parts = r.parts - @isEnd::integer,
  state = CASE WHEN @isEnd AND r.parts = 1 THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN @isEnd AND r.parts = 1 THEN job.at END
FROM job WHERE r.id = job.id
RETURNING r.id`;

/**
 * Restarts the schedules of a batch, makes its waiting deliveries due, and stores the replay's progress.
 * @param span the days of the deliveries
 * @returns no row if the replay may not continue or another worker has continued it
 */
export function continueReplay(span: Span) {
  return statement<ReplayBatch & { deliveryIds: string[] }, { id: string }>(
    progressWith(`-- Skips deliveries whose state has changed since they were found.
chosen AS MATERIALIZED (
  SELECT d.id, d.state, job.present, job.ordered, job.at FROM job CROSS JOIN unnest(@deliveryIds::uuid[]) AS n(id)
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })}
  WHERE d.state = ANY (job.states) AND (d.state <> 'pending' OR d.generation = job.present)
    AND d.erased IS NULL
),
-- Restarts each schedule under the subscription's present generation.
started AS (
  UPDATE deliveries d
  SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
    immediate = false, replayed = true, resumes_at = NULL, extra_attempts = NULL,
    generation = c.present,
    -- If a cancelled delivery still has an attempt in flight, that one is its first.
    next_attempt_at = CASE WHEN c.ordered THEN d.created_at ELSE greatest(d.claimed_until, c.at) END,
    not_before = NULL,
    claimed_until = CASE WHEN d.claimed_until > c.at THEN d.claimed_until END
  FROM chosen c WHERE c.state <> 'pending' AND d.id = c.id AND ${within('d.id', span)}
),
-- Those that are due, or whose attempt is about to be made, come anyway.
forwarded AS (
  UPDATE deliveries d
  SET resumes_at = coalesce(d.resumes_at, greatest(d.next_attempt_at, d.not_before)),
    next_attempt_at = CASE WHEN c.ordered THEN d.created_at ELSE c.at END, not_before = NULL
  FROM chosen c WHERE c.state = 'pending' AND d.id = c.id AND ${within('d.id', span)}
    AND greatest(d.next_attempt_at, d.not_before) > now() AND (d.claimed_until IS NULL OR d.claimed_until <= now())
)`),
  );
}

/** How many days {@link DELIVER_MISSED} may cover: less one, as {@link DAYS_REPLAYED}. */
export const DAYS_DELIVERED = daysAtOnce('events', 'events', 'deliveries', 'deliveries') - 1;

/**
 * Adds deliveries of a batch of missed events, and stores the replay's progress.
 * @returns like {@link continueReplay}
 */
export const DELIVER_MISSED = prepared<ReplayBatch & { eventIds: string[] }, { id: string }>(
  'replays.deliver_missed',
  progressWith(`chosen AS MATERIALIZED (
  SELECT delivery FROM job CROSS JOIN LATERAL deliver_missed(job.id, job.target, @eventIds::uuid[]) AS delivery
)`),
);
