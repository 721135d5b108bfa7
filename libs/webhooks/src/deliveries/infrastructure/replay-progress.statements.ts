import { type NoValues, prepared, statement } from '#libs/runtime';
import type { Replay } from '../domain/replay.js';
import { joinDeliveryByKey } from './delivery-by-key.js';
import { daysAtOnce, type Span, within } from './partition-walk.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** How many days {@link findWaiting} may cover. */
export const DAYS_WAITING = daysAtOnce('deliveries');

/** How many days {@link continueReplay} may cover. */
export const DAYS_REPLAYED = daysAtOnce('deliveries', 'deliveries');

const IS_OFF = '(NOT w.enabled OR w.deleted_at IS NOT NULL)';

/** Whether any replay is running, or has parts to remove. */
export const IS_ANY_REPLAYING = prepared(
  'replays.any',
  `SELECT id FROM replays WHERE state = 'running' UNION ALL SELECT replay_id FROM replay_parts LIMIT 1`,
);

/** Ends some replays of one subscription that was switched off or deleted after they were requested. */
export const END_REPLAYS = prepared(
  'replays.end',
  `
UPDATE replays SET state = 'cancelled', completed_at = now()
WHERE id IN (
  SELECT r.id FROM replays r JOIN webhooks w ON w.id = r.webhook_id
  WHERE r.state = 'running' AND (${IS_OFF} OR w.generation <> coalesce(r.generation, (
    SELECT generation FROM replay_parts WHERE replay_id = r.id AND webhook_id = r.webhook_id
  )))
  LIMIT 1000 FOR UPDATE OF r SKIP LOCKED
)`,
);

/**
 * Removes some parts of replays that have ended, or whose subscription was switched off or deleted. A replay of
 * one subscription keeps its part until {@link END_REPLAYS} has cancelled it; otherwise it would be completed.
 */
export const END_PARTS = prepared(
  'replays.end_parts',
  `
DELETE FROM replay_parts WHERE (replay_id, webhook_id) IN (
  SELECT p.replay_id, p.webhook_id FROM replay_parts p
    LEFT JOIN replays r ON r.id = p.replay_id AND r.state = 'running'
    LEFT JOIN webhooks w ON w.id = p.webhook_id
  WHERE r.id IS NULL OR w.id IS NULL
    OR r.webhook_id IS NULL AND (${IS_OFF} OR w.generation <> p.generation)
  LIMIT 1000 FOR UPDATE OF p SKIP LOCKED
)`,
);

/** Completes replays whose parts have all ended. */
export const COMPLETE_REPLAYS = prepared(
  'replays.complete',
  `
UPDATE replays SET state = 'completed', completed_at = now()
WHERE id IN (
  SELECT r.id FROM replays r
  WHERE r.state = 'running' AND r.generation IS NULL
    AND NOT EXISTS (SELECT FROM replay_parts WHERE replay_id = r.id)
  LIMIT 1000 FOR UPDATE OF r SKIP LOCKED
)`,
);

/** The progress of replay `r` in subscription `w`: in the replay's own row, or in the row of its part `p`. */
type Progress = 'r' | 'p';

/**
 * Replays that may continue in a subscription: the oldest of each that is on and not blocked. A subscription's
 * replays wait for each other, whether they are of it alone or of its account.
 */
function ready(progress: Progress): string {
  return `
FROM replays r ${progress === 'p' ? 'JOIN replay_parts p ON p.replay_id = r.id' : ''}
  JOIN webhooks w ON w.id = ${progress}.webhook_id
WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL
  AND w.generation = ${progress}.generation
  AND NOT ${IS_BLOCKED}
  AND NOT EXISTS (
    SELECT FROM replays o WHERE o.webhook_id = w.id AND o.state = 'running' AND o.id < r.id
  )
  AND NOT EXISTS (SELECT FROM replay_parts o WHERE o.webhook_id = w.id AND o.replay_id < r.id)`;
}

/** How many replays of an account continue in one run, chosen at random, so that others need not wait. */
const READY_OF_ONE = 10;

export interface ReadyReplay extends Pick<Replay, 'id' | 'states' | 'until'> {
  webhookId: string;
  /** The last delivery that the replay has reached. */
  after: string;
  event: string | null;
  applicationId: string | null;
  status: string | null;
  isPart: boolean;
}

function readyRows(progress: Progress): string {
  return `
  SELECT r.id, w.id AS "webhookId", r.states, ${progress}.after, r.until, r.event,
    r.application_id AS "applicationId", r.status, ${String(progress === 'p')} AS "isPart",
    r.account_id ${ready(progress)}`;
}

export const READY_REPLAYS = prepared<NoValues, ReadyReplay>(
  'replays.ready',
  `
SELECT id, "webhookId", states, after, until, event, "applicationId", status, "isPart" FROM (
  SELECT *, row_number() OVER (PARTITION BY account_id ORDER BY random()) AS place
  FROM (${readyRows('r')} UNION ALL ${readyRows('p')}) each
) ready WHERE place <= ${READY_OF_ONE} ORDER BY id`,
);

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
