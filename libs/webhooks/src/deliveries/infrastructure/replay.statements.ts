import { MAX_RUNNING, REPLAYABLE_STATES } from '../domain/replay.js';
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
function inStates(states: string, each: (condition: string) => string): string {
  return REPLAYABLE_STATES.map(
    (state) => `(${each(`'${state}' = ANY (${states}) AND state = '${state}'`)})`,
  ).join('\n    UNION ALL ');
}

/** It is a test, which is never replayed. One by one: a join would read all events of the days. */
function joinNoTest(span: Span): string {
  return `
  JOIN LATERAL (
    SELECT test FROM events WHERE id = d.event_id AND ${within('id', span)} LIMIT 1
  ) e ON NOT e.test`;
}

/** $1 the end of the time, or NULL; nothing of the future can be sent again. */
export const END_OF_RANGE = {
  text: `SELECT date_trunc('milliseconds', least($1::timestamptz, now())) AS until`,
};

/**
 * $1 webhook, $2 since, $3 until, $4 states; what is about to be cancelled counts as cancelled.
 * Without a name: the best plan depends on the times.
 */
export function countReplayable(span: Span): { text: string } {
  const inRange = `id >= least_uuid($2::timestamptz) AND id < least_uuid($3::timestamptz)
       AND ${within('id', span)}`;
  return {
    text: `
SELECT count(*)::integer AS deliveries FROM webhooks w CROSS JOIN LATERAL (
    ${inStates(
      '$4::text[]',
      (condition) => `SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND ${condition} AND ${inRange}`,
    )}
    UNION ALL (SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND 'cancelled' = ANY ($4::text[])
       AND state = 'pending' AND generation < w.generation AND ${inRange})
  ) d ${joinNoTest(span)}
WHERE w.id = $1`,
  };
}

/**
 * $1 webhook, $2 since, $3 until, $4 states, $5 how many there are. It does not count itself: what
 * takes longer than its caller waits is carried out all the same, and would be asked for again.
 */
export const START_REPLAY = {
  name: 'replays.start',
  text: `
INSERT INTO replays (id, webhook_id, account_id, generation, since, until, states, total, after)
SELECT new_uuid(now(), 1), w.id, w.account_id, w.generation, $2, $3, $4, $5,
  least_uuid($2::timestamptz)
FROM webhooks w WHERE w.id = $1 AND w.enabled AND w.deleted_at IS NULL
  AND (SELECT count(*) FROM replays WHERE webhook_id = w.id AND state = 'running') < ${MAX_RUNNING}
RETURNING id`,
};

/** Of subscription $1, how long ago the replay was started that $2 began after within $3 ms. */
export const EARLIER_REPLAY = {
  name: 'replays.earlier',
  text: `
SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS ago_ms
FROM replays
WHERE webhook_id = $1
  AND id >= least_uuid(now() - make_interval(secs => $3::float8 / 1000))
ORDER BY id DESC OFFSET $2::integer - 1 LIMIT 1`,
};

/** $1 replay, $2 account. */
export const FIND_REPLAY = {
  name: 'replays.find',
  text: `
SELECT id, webhook_id, since, until, states, state, total, replayed, created_at, completed_at
FROM replays WHERE id = $1 AND account_id = $2`,
};

export const CANCEL_REPLAY = {
  name: 'replays.cancel',
  text: `
UPDATE replays SET state = 'cancelled', completed_at = now() WHERE id = $1 AND state = 'running'
RETURNING id`,
};

/** Ends some of those of subscriptions that were switched off or deleted since they were asked for. */
export const END_REPLAYS = {
  name: 'replays.end',
  text: `
UPDATE replays SET state = 'cancelled', completed_at = now()
WHERE id IN (
  SELECT r.id FROM replays r JOIN webhooks w ON w.id = r.webhook_id
  WHERE r.state = 'running'
    AND (NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> r.generation)
  LIMIT 1000 FOR UPDATE OF r SKIP LOCKED
)`,
};

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

export const READY_REPLAYS = {
  name: 'replays.ready',
  text: `
SELECT id, webhook_id, states, after, until FROM (
  SELECT r.id, r.webhook_id, r.states, r.after, r.until,
    row_number() OVER (PARTITION BY r.account_id ORDER BY random()) AS place ${READY}
) ready WHERE place <= ${READY_OF_ONE} ORDER BY id`,
};

/**
 * How many deliveries of subscription $1 are due and wait, $2 at the most, and whether any is about
 * to be cancelled: that has to be so first, or a replay would pass it by.
 */
export function findWaiting(span: Span): { text: string } {
  return {
    text: `
SELECT (SELECT count(*)::integer FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND next_attempt_at <= now()
      AND (claimed_until IS NULL OR claimed_until <= now()) AND ${within('id', span)}
    -- The order of the index on what is pending: no other one may seem as good.
    ORDER BY next_attempt_at LIMIT $2::integer
  ) due) AS due,
  w.cancelling AND 0 < (SELECT count(*) FROM (
    SELECT FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation < w.generation
      AND ${within('id', span)}
    ORDER BY next_attempt_at LIMIT 1
  ) outdated) AS outdated
FROM webhooks w WHERE w.id = $1`,
  };
}

/** The next deliveries of a replay, oldest first: $1 webhook, $2 after, $3 until, $4 states, $5 limit. */
export function findReplayable(span: Span): { text: string } {
  return {
    text: `
SELECT id FROM (
    ${inStates(
      '$4::text[]',
      (condition) => `SELECT id FROM deliveries
     WHERE webhook_id = $1 AND ${condition}
       AND id > $2::uuid AND id < least_uuid($3::timestamptz) AND ${within('id', span)}
     ORDER BY id LIMIT $5::integer`,
    )}
) found ORDER BY id LIMIT $5::integer`,
  };
}

/**
 * Starts the schedules of deliveries $3 of replay $1 anew, if it may still go on and nobody else got
 * further than $2, and remembers that it came to $4, or to its end: $5.
 * @param span the days of the deliveries
 * @returns nothing when it was for somebody else to do
 */
export function continueReplay(span: Span): { text: string } {
  return {
    text: `
WITH job AS MATERIALIZED (
  SELECT r.*, w.generation AS present ${READY} AND r.id = $1 AND r.after = $2
  FOR UPDATE OF r SKIP LOCKED
),
chosen AS MATERIALIZED (
  SELECT d.id, job.present FROM job CROSS JOIN unnest($3::uuid[]) AS n(id)
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })} ${joinNoTest(span)}
  WHERE d.state = ANY (job.states)
),
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
-- What is accepted now comes after it.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.webhook_id AND NOT w.backlog AND EXISTS (SELECT FROM started)
)
UPDATE replays r
SET replayed = r.replayed + (SELECT count(*) FROM started),
  after = $4,
  state = CASE WHEN $5::boolean THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN $5::boolean THEN now() END
FROM job WHERE r.id = job.id
RETURNING r.id`,
  };
}

/** $1 days for which they are kept. */
export const FORGET_REPLAYS = {
  name: 'replays.forget',
  text: `DELETE FROM replays WHERE id IN (
  SELECT id FROM replays WHERE completed_at < now() - $1::integer * interval '24 hours'
  FOR UPDATE SKIP LOCKED
)`,
};
