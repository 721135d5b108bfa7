import { type NoValues, prepared, statement } from '#libs/runtime';
import {
  MAX_RUNNING,
  REPLAYABLE_STATES,
  type ReplayableState,
  type ReplayState,
} from '../domain/replay.js';
import { joinDeliveryByKey } from './delivery-by-key.js';
import { daysAtOnce, type Span, within } from './partition-walk.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** How many days {@link countReplayable} may be about. */
export const DAYS_COUNTED = daysAtOnce('deliveries', 'events');

/** How many days {@link findWaiting} and {@link findReplayable} may be about. */
export const DAYS_FOUND = daysAtOnce('deliveries');

/** How many days {@link continueReplay} may be about. */
export const DAYS_REPLAYED = daysAtOnce('deliveries', 'deliveries', 'events');

/** A query for each state, so that each has an index of its own; it finds nothing where not asked for. */
function inStates(each: (condition: string) => string): string {
  return REPLAYABLE_STATES.map(
    (state) => `(${each(`'${state}' = ANY (@states::text[]) AND state = '${state}'`)})`,
  ).join('\n    UNION ALL ');
}

/** It is a test, which is never replayed. One by one: a join would read all events of the days. */
function joinNoTest(span: Span): string {
  return `
  JOIN LATERAL (
    SELECT test FROM events WHERE id = d.event_id AND ${within('id', span)} LIMIT 1
  ) e ON NOT e.test`;
}

/** Nothing of the future can be sent again. */
export const END_OF_RANGE = statement<{ until: string | undefined }, { until: Date }>(
  `SELECT date_trunc('milliseconds', least(@until::timestamptz, now())) AS until`,
);

/** Which deliveries of a subscription; the times in ISO 8601. */
interface RangeValues {
  webhookId: string;
  since: string;
  until: string;
  states: readonly ReplayableState[];
}

/**
 * What is about to be cancelled counts as cancelled. Not prepared: the best plan depends on the
 * times.
 */
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
 * It does not count the deliveries itself: what takes longer than its caller waits is carried out all
 * the same, and would be asked for again.
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

/** How long ago the replay was started that is so many before the next. */
export const EARLIER_REPLAY = prepared<
  { webhookId: string; times: number; withinMs: number },
  { ago_ms: number }
>(
  'replays.earlier',
  `
SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS ago_ms
FROM replays
WHERE webhook_id = @webhookId
  AND id >= least_uuid(now() - make_interval(secs => @withinMs::float8 / 1000))
ORDER BY id DESC OFFSET @times::integer - 1 LIMIT 1`,
);

export interface ReplayRow {
  id: string;
  webhook_id: string;
  since: Date;
  until: Date;
  states: ReplayableState[];
  state: ReplayState;
  total: number;
  replayed: number;
  created_at: Date;
  completed_at: Date | null;
}

export const FIND_REPLAY = prepared<{ id: string; accountId: string }, ReplayRow>(
  'replays.find',
  `
SELECT id, webhook_id, since, until, states, state, total, replayed, created_at, completed_at
FROM replays WHERE id = @id AND account_id = @accountId`,
);

export const CANCEL_REPLAY = prepared<{ id: string }, { id: string }>(
  'replays.cancel',
  `
UPDATE replays SET state = 'cancelled', completed_at = now() WHERE id = @id AND state = 'running'
RETURNING id`,
);

/** Ends some of those of subscriptions that were switched off or deleted since they were asked for. */
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

/** Those that may go on: of each subscription the oldest, while it is on and not blocked. */
const READY = `
FROM replays r JOIN webhooks w ON w.id = r.webhook_id
WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL AND w.generation = r.generation
  AND NOT ${IS_BLOCKED}
  AND NOT EXISTS (
    SELECT FROM replays o WHERE o.webhook_id = r.webhook_id AND o.state = 'running' AND o.id < r.id
  )`;

/** So many of an account go on in one round, whichever: others do not wait for thousands. */
const READY_OF_ONE = 10;

export interface ReadyReplay {
  id: string;
  webhook_id: string;
  states: ReplayableState[];
  /** The delivery that it came to. */
  after: string;
  until: Date;
}

export const READY_REPLAYS = prepared<NoValues, ReadyReplay>(
  'replays.ready',
  `
SELECT id, webhook_id, states, after, until FROM (
  SELECT r.id, r.webhook_id, r.states, r.after, r.until,
    row_number() OVER (PARTITION BY r.account_id ORDER BY random()) AS place ${READY}
) ready WHERE place <= ${READY_OF_ONE} ORDER BY id`,
);

/**
 * How many deliveries of a subscription are due and wait, up to a limit, and whether any is about to be
 * cancelled: that has to be so first, or a replay would pass it by.
 */
export function findWaiting(span: Span) {
  return statement<{ webhookId: string; limit: number }, { due: number; outdated: boolean }>(`
SELECT (SELECT count(*)::integer FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND (claimed_until IS NULL OR claimed_until <= now()) AND ${within('id', span)}
    -- The order of the index on what is pending: no other one may seem as good.
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
  /** Where it stood, the last delivery of the batch, and whether that is the last of all. */
  after: string;
  to: string;
  isEnd: boolean;
  deliveryIds: string[];
}

/**
 * Starts the schedules of a batch anew, and remembers how far the replay came.
 * @param span the days of the deliveries
 * @returns nothing when it was for somebody else to do
 */
export function continueReplay(span: Span) {
  return statement<ReplayBatch, { id: string }>(`
WITH
-- If it may still go on, and nobody else got further.
job AS MATERIALIZED (
  SELECT r.*, w.generation AS present ${READY} AND r.id = @id AND r.after = @after
  FOR UPDATE OF r SKIP LOCKED
),
-- What has changed its state since it was found is left out.
chosen AS MATERIALIZED (
  SELECT d.id, job.present FROM job CROSS JOIN unnest(@deliveryIds::uuid[]) AS n(id)
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })} ${joinNoTest(span)}
  WHERE d.state = ANY (job.states)
),
-- Each begins its schedule anew, under the subscription's present generation.
started AS (
  UPDATE deliveries d
  SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
    immediate = false, replayed = true, generation = c.present,
    -- An attempt that is still on its way, of one that was cancelled meanwhile, is its first.
    next_attempt_at = greatest(d.claimed_until, now()),
    claimed_until = CASE WHEN d.claimed_until > now() THEN d.claimed_until END
  FROM chosen c WHERE d.id = c.id AND ${within('d.id', span)}
  RETURNING d.id
),
-- What is accepted now comes after them.
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

/** Those that ended more days ago than data is kept for. */
export const FORGET_REPLAYS = prepared<{ days: number }>(
  'replays.forget',
  `DELETE FROM replays WHERE id IN (
  SELECT id FROM replays WHERE completed_at < now() - @days::integer * interval '24 hours'
  FOR UPDATE SKIP LOCKED
)`,
);
