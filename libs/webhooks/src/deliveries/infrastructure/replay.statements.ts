import { type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import {
  MAX_RUNNING,
  type Replay,
  REPLAYABLE_STATES,
  type ReplayableState,
} from '../domain/replay.js';
import { joinDeliveryByKey } from './delivery-by-key.js';
import { daysAtOnce, type Span, within } from './partition-walk.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** How many days {@link countReplayable} may cover. */
export const DAYS_COUNTED = daysAtOnce('deliveries', 'events');

/** How many days {@link findWaiting} and {@link findReplayable} may cover. */
export const DAYS_FOUND = daysAtOnce('deliveries');

/** How many days {@link continueReplay} may cover. */
export const DAYS_REPLAYED = daysAtOnce('deliveries', 'deliveries', 'events');

/** A query for each state, so that each can use its best index. Finds nothing for states not requested. */
function inStates(each: (condition: string) => string): string {
  return REPLAYABLE_STATES.map(
    (state) => `(${each(`'${state}' = ANY (@states::text[]) AND state = '${state}'`)})`,
  ).join('\n    UNION ALL ');
}

/** Excludes tests, which are never replayed. Looks up each event, because a plain join would read all. */
function joinNoTest(span: Span): string {
  return `
  JOIN LATERAL (
    SELECT test FROM events WHERE id = d.event_id AND ${within('id', span)} LIMIT 1
  ) e ON NOT e.test`;
}

/** The end of the range is at most now. */
export const END_OF_RANGE = statement<{ until: string | undefined }, { until: Date }>(
  `SELECT date_trunc('milliseconds', least(@until::timestamptz, now())) AS until`,
);

/** Selects deliveries of a subscription. Times are in ISO 8601. */
interface RangeValues {
  webhookId: string;
  since: string;
  until: string;
  states: readonly ReplayableState[];
}

/** Outdated deliveries count as cancelled. Not prepared, because the best plan depends on the times. */
export function countReplayable(span: Span) {
  const inRange = `id >= least_uuid(@since::timestamptz) AND id < least_uuid(@until::timestamptz)
       AND ${within('id', span)}`;
  return statement<RangeValues, { deliveries: number }>(`
SELECT count(*)::integer AS deliveries FROM webhooks w CROSS JOIN LATERAL (
    ${inStates(
      (condition) => `SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND ${condition} AND ${inRange}`,
    )}
    UNION ALL (SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND 'cancelled' = ANY (@states::text[])
       AND state = 'pending' AND generation < w.generation AND ${inRange})
  ) d ${joinNoTest(span)}
WHERE w.id = @webhookId`);
}

/**
 * Does not count the deliveries itself. If it took longer than the caller waits, the replay would still
 * start, and the caller would request it again.
 */
export const START_REPLAY = prepared<RangeValues & { total: number }, { id: string }>(
  'replays.start',
  `
INSERT INTO replays (id, webhook_id, account_id, generation, since, until, states, total, after)
SELECT new_uuid(now(), 1), w.id, w.account_id, w.generation, @since, @until, @states, @total,
  least_uuid(@since::timestamptz)
FROM webhooks w WHERE w.id = @webhookId AND w.enabled AND w.deleted_at IS NULL
  AND (SELECT count(*) FROM replays WHERE webhook_id = w.id AND state = 'running') < ${MAX_RUNNING}
RETURNING id`,
);

/** Age of the `times`-th newest replay, if it is within `withinMs`. */
export const EARLIER_REPLAY = prepared<
  { webhookId: string; times: number; withinMs: number },
  { agoMs: number }
>(
  'replays.earlier',
  `
SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS "agoMs"
FROM replays
WHERE webhook_id = @webhookId
  AND id >= least_uuid(now() - make_interval(secs => @withinMs::float8 / 1000))
ORDER BY id DESC OFFSET @times::integer - 1 LIMIT 1`,
);

export const FIND_REPLAY = prepared<{ id: string; accountId: string }, RowOf<Replay>>(
  'replays.find',
  `
SELECT id, webhook_id AS "webhookId", since, until, states, state, total, replayed,
  created_at AS "createdAt", completed_at AS "completedAt"
FROM replays WHERE id = @id AND account_id = @accountId`,
);

export const CANCEL_REPLAY = prepared<{ id: string }, { id: string }>(
  'replays.cancel',
  `
UPDATE replays SET state = 'cancelled', completed_at = now() WHERE id = @id AND state = 'running'
RETURNING id`,
);

/** Ends some replays whose subscription was switched off or deleted after they were requested. */
export const END_REPLAYS = prepared(
  'replays.end',
  `
UPDATE replays SET state = 'cancelled', completed_at = now()
WHERE id IN (
  SELECT r.id FROM replays r JOIN webhooks w ON w.id = r.webhook_id
  WHERE r.state = 'running'
    AND (NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> r.generation)
  LIMIT 1000 FOR UPDATE OF r SKIP LOCKED
)`,
);

/** Replays that may continue: the oldest of each subscription that is on and not blocked. */
const READY = `
FROM replays r JOIN webhooks w ON w.id = r.webhook_id
WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL AND w.generation = r.generation
  AND NOT ${IS_BLOCKED}
  AND NOT EXISTS (
    SELECT FROM replays o WHERE o.webhook_id = r.webhook_id AND o.state = 'running' AND o.id < r.id
  )`;

/** How many replays of an account continue in one run, chosen at random, so that others need not wait. */
const READY_OF_ONE = 10;

export interface ReadyReplay extends Pick<Replay, 'id' | 'webhookId' | 'states' | 'until'> {
  /** The last delivery that the replay has reached. */
  after: string;
}

export const READY_REPLAYS = prepared<NoValues, ReadyReplay>(
  'replays.ready',
  `
SELECT id, "webhookId", states, after, until FROM (
  SELECT r.id, r.webhook_id AS "webhookId", r.states, r.after, r.until,
    row_number() OVER (PARTITION BY r.account_id ORDER BY random()) AS place ${READY}
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

/** The next deliveries of a replay, oldest first. */
export function findReplayable(span: Span) {
  return statement<Omit<RangeValues, 'since'> & { after: string; limit: number }, { id: string }>(`
SELECT id FROM (
    ${inStates(
      (condition) => `SELECT id FROM deliveries
     WHERE webhook_id = @webhookId AND ${condition}
       AND id > @after::uuid AND id < least_uuid(@until::timestamptz) AND ${within('id', span)}
     ORDER BY id LIMIT @limit::integer`,
    )}
) found ORDER BY id LIMIT @limit::integer`);
}

/** A batch of a replay. */
interface ReplayBatch {
  id: string;
  /** The position before the batch, its last delivery, and whether the replay ends with it. */
  after: string;
  to: string;
  isEnd: boolean;
  deliveryIds: string[];
}

/**
 * Restarts the schedules of a batch and stores the replay's progress.
 * @param span the days of the deliveries
 * @returns no row if the replay may not continue or another worker has continued it
 */
export function continueReplay(span: Span) {
  return statement<ReplayBatch, { id: string }>(`
WITH
-- Only if the replay may still continue and no other worker has advanced it.
job AS MATERIALIZED (
  SELECT r.*, w.generation AS present ${READY} AND r.id = @id AND r.after = @after
  FOR UPDATE OF r SKIP LOCKED
),
-- Skips deliveries whose state has changed since they were found.
chosen AS MATERIALIZED (
  SELECT d.id, job.present FROM job CROSS JOIN unnest(@deliveryIds::uuid[]) AS n(id)
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })} ${joinNoTest(span)}
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
  WHERE w.id = job.webhook_id AND NOT w.backlog AND EXISTS (SELECT FROM started)
)
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM started),
  after = @to,
  state = CASE WHEN @isEnd::boolean THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN @isEnd::boolean THEN now() END
FROM job WHERE r.id = job.id
RETURNING r.id`);
}

/** Deletes replays that ended before the retention period. */
export const FORGET_REPLAYS = prepared<{ days: number }>(
  'replays.forget',
  `DELETE FROM replays WHERE id IN (
  SELECT id FROM replays WHERE completed_at < now() - @days::integer * interval '24 hours'
  FOR UPDATE SKIP LOCKED
)`,
);
