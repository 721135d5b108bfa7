import { REPLAYABLE_STATES } from '../domain/replay.js';
import { joinDeliveryByKey } from './delivery-by-key.js';
import { IS_BLOCKED } from './webhook-flow.js';

/** A query for each state, so that each has an index of its own; it finds nothing where not asked for. */
function inStates(states: string, each: (condition: string) => string): string {
  return REPLAYABLE_STATES.map(
    (state) => `(${each(`'${state}' = ANY (${states}) AND state = '${state}'`)})`,
  ).join('\n    UNION ALL ');
}

/** It is a test, which is never replayed. One by one: a join would read all events there are. */
const JOIN_NO_TEST = `
  JOIN LATERAL (SELECT test FROM events WHERE id = d.event_id LIMIT 1) e ON NOT e.test`;

/** The end of the time; nothing of the future can be sent again. $3 may be NULL. */
const UNTIL = `date_trunc('milliseconds', least($3::timestamptz, now()))`;

/** Of subscription `w`; what is about to be cancelled counts as cancelled. $2 since, $4 states. */
const COUNT = `
  SELECT count(*)::integer FROM (
    ${inStates(
      '$4::text[]',
      (condition) => `SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND ${condition}
       AND id >= least_uuid($2::timestamptz) AND id < least_uuid(${UNTIL})`,
    )}
    UNION ALL (SELECT id, event_id FROM deliveries
     WHERE webhook_id = w.id AND 'cancelled' = ANY ($4::text[])
       AND state = 'pending' AND generation < w.generation
       AND id >= least_uuid($2::timestamptz) AND id < least_uuid(${UNTIL}))
  ) d ${JOIN_NO_TEST}`;

/** $1 webhook, $2 since, $3 until, $4 states. Without a name: the best plan depends on the times. */
export const COUNT_REPLAYABLE = {
  text: `SELECT (${COUNT}) AS deliveries, ${UNTIL} AS until FROM webhooks w WHERE w.id = $1`,
};

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
RETURNING id`,
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

/** Ends those of subscriptions that were switched off or deleted since they were asked for. */
export const END_REPLAYS = {
  name: 'replays.end',
  text: `
UPDATE replays r SET state = 'cancelled', completed_at = now()
FROM webhooks w
WHERE r.state = 'running' AND w.id = r.webhook_id
  AND (NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> r.generation)`,
};

/**
 * Those that may go on: of each subscription the oldest, while it is on, neither paused nor held, and
 * fewer than $1 of its deliveries are due and wait. What is about to be cancelled has to be so first,
 * or it would be passed by.
 */
const READY = `
SELECT r.id FROM replays r
-- What waits is counted only of subscriptions that have a replay: LIMIT keeps PostgreSQL from joining first.
CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE id = r.webhook_id LIMIT 1) w
WHERE r.state = 'running' AND w.enabled AND w.deleted_at IS NULL AND w.generation = r.generation
  AND NOT ${IS_BLOCKED}
  AND NOT EXISTS (
    SELECT FROM replays o WHERE o.webhook_id = r.webhook_id AND o.state = 'running' AND o.id < r.id
  )
  AND $1::integer > (SELECT count(*) FROM (
    SELECT FROM deliveries d
    WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at <= now()
      AND (d.claimed_until IS NULL OR d.claimed_until <= now())
    -- The order of the index on what is pending: no other one may seem as good.
    ORDER BY d.next_attempt_at LIMIT $1::integer
  ) waiting)
  AND (NOT w.cancelling OR 0 = (SELECT count(*) FROM (
    SELECT FROM deliveries d
    WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.generation < w.generation
    ORDER BY d.next_attempt_at LIMIT 1
  ) outdated))`;

export const READY_REPLAYS = { name: 'replays.ready', text: `${READY} ORDER BY r.id` };

/** Takes one of them, $2, for the transaction, unless another worker has it. */
export const TAKE_REPLAY = `${READY} AND r.id = $2::uuid FOR UPDATE OF r SKIP LOCKED`;

/**
 * Starts the schedules of the next $2 deliveries of replay $1 anew, oldest first, and remembers how
 * far it came. A statement of its own after {@link TAKE_REPLAY}: it sees what others did until then.
 */
export const CONTINUE_REPLAY = `
WITH job AS MATERIALIZED (
  SELECT r.*, w.generation AS present FROM replays r JOIN webhooks w ON w.id = r.webhook_id
  WHERE r.id = $1
),
next AS MATERIALIZED (
  SELECT d.id FROM job w CROSS JOIN LATERAL (
    SELECT id FROM (
    ${inStates(
      'w.states',
      (condition) => `SELECT id FROM deliveries
     WHERE webhook_id = w.webhook_id AND ${condition}
       AND id > w.after AND id < least_uuid(w.until)
     ORDER BY id LIMIT $2::integer`,
    )}
    ) found ORDER BY id LIMIT $2::integer
  ) d
),
chosen AS MATERIALIZED (
  SELECT d.id, job.present FROM job CROSS JOIN next n
  ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE' })} ${JOIN_NO_TEST}
  WHERE d.state = ANY (job.states)
),
started AS (
  UPDATE deliveries d
  SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
    immediate = false, replayed = true, generation = c.present, next_attempt_at = now(),
    -- An attempt that is still on its way, of one that was cancelled meanwhile, is its first.
    taken = d.taken AND d.claimed_until > now(),
    claimed_until = CASE WHEN d.taken AND d.claimed_until > now() THEN d.claimed_until END
  FROM chosen c WHERE d.id = c.id
  RETURNING d.id
),
-- What is accepted now waits its turn.
marked AS (
  UPDATE webhooks w SET backlog = true FROM job
  WHERE w.id = job.webhook_id AND NOT w.backlog AND EXISTS (SELECT FROM started)
)
UPDATE replays r
SET replayed = r.replayed + s.started,
  after = coalesce(s.last, r.after),
  state = CASE WHEN s.found < $2::integer THEN 'completed' ELSE r.state END,
  completed_at = CASE WHEN s.found < $2::integer THEN now() END
FROM (
  SELECT (SELECT count(*) FROM started) AS started, (SELECT count(*) FROM next) AS found,
    (SELECT id FROM next ORDER BY id DESC LIMIT 1) AS last
) s
WHERE r.id = $1`;

/** $1 days for which they are kept. */
export const FORGET_REPLAYS = {
  name: 'replays.forget',
  text: `DELETE FROM replays WHERE id IN (
  SELECT id FROM replays WHERE completed_at < now() - $1::integer * interval '24 hours'
  FOR UPDATE SKIP LOCKED
)`,
};
