import { statement } from '#libs/runtime';
import { joinDeliveryByKey } from '../../partitions/delivery-by-key.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-walk.js';
import { isBehind, type ReadyReplay } from './replay-look.statements.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** How many days {@link findWaiting} may cover. */
export const DAYS_WAITING = daysAtOnce('deliveries');

/** How many days {@link continueReplay} may cover: one less, because it also locks the indexes of `replays`. */
export const DAYS_REPLAYED = daysAtOnce('deliveries', 'deliveries') - 1;

/** The progress of replay `r` in subscription `w`: in the replay's own row, or in the row of its part `p`. */
type Progress = 'r' | 'p';

/**
 * A replay that may continue in a subscription: the oldest of one that is on and not blocked. A subscription's
 * replays wait for each other, whether they are of it alone or of its account.
 */
function ready(progress: Progress): string {
  return `
FROM replays r ${progress === 'p' ? 'JOIN replay_parts p ON p.replay_id = r.id' : ''}
  JOIN webhooks w ON w.id = ${progress}.webhook_id
WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL
  AND w.generation = ${progress}.generation
  AND NOT ${IS_BLOCKED}
  AND NOT ${isBehind('r.id')}`;
}

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
  deliveryIds: string[];
}

/** Stores how far the replay `job` got. */
const ADVANCED: Record<Progress, string> = {
  r: `
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM started),
  after = @to,
  state = CASE WHEN @isEnd::boolean THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN @isEnd::boolean THEN now() END
FROM job WHERE r.id = job.id
RETURNING r.id`,
  p: `,
advanced AS (
  UPDATE replay_parts p SET after = @to FROM job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND NOT @isEnd::boolean
),
ended AS (
  DELETE FROM replay_parts p USING job
  WHERE p.replay_id = job.id AND p.webhook_id = job.target AND @isEnd
)
UPDATE replays r SET replayed = r.replayed + (SELECT count(*) FROM started)
FROM job WHERE r.id = job.id
RETURNING r.id`,
};

/**
 * Restarts the schedules of a batch and stores the replay's progress.
 * @param span the days of the deliveries
 * @returns no row if the replay may not continue or another worker has continued it
 */
export function continueReplay(span: Span, { isPart }: Pick<ReadyReplay, 'isPart'>) {
  const progress = isPart ? 'p' : 'r';
  return statement<ReplayBatch, { id: string }>(`
WITH
-- Only if the replay may still continue and no other worker has advanced it.
job AS MATERIALIZED (
  SELECT r.id, r.states, w.id AS target, w.generation AS present ${ready(progress)}
    AND r.id = @id AND w.id = @webhookId AND ${progress}.after = @after
  FOR UPDATE OF ${isPart ? 'r, p' : 'r'} SKIP LOCKED
),
-- Skips deliveries whose state has changed since they were found.
chosen AS MATERIALIZED (
  SELECT d.id, job.present FROM job CROSS JOIN unnest(@deliveryIds::uuid[]) AS n(id)
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })}
  WHERE d.state = ANY (job.states)
),
-- Restarts each schedule under the subscription's present generation.
started AS (
  UPDATE deliveries d
  SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
    immediate = false, replayed = true, generation = c.present,
    -- If a cancelled delivery still has an attempt in flight, that one is its first.
    next_attempt_at = greatest(d.claimed_until, now()),
    claimed_until = CASE WHEN d.claimed_until > now() THEN d.claimed_until END
  FROM chosen c WHERE d.id = c.id AND ${within('d.id', span)}
  RETURNING d.id
),
-- New deliveries are sent after the replayed ones.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.target AND NOT w.backlog AND EXISTS (SELECT FROM started)
)${ADVANCED[progress]}`);
}
