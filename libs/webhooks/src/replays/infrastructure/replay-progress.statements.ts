import { prepared } from '#libs/runtime';
import type { Replay } from '../domain/replay.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** Whether any replay is running, or has parts to remove. */
export const IS_ANY_REPLAYING = prepared(
  'replays.any',
  `SELECT id FROM replays WHERE state = 'running' UNION ALL SELECT replay_id FROM replay_parts LIMIT 1`,
);

interface Ids {
  ids: string[];
}

/**
 * Limits of one look: accounts, running replays of each, and parts of each replay. Ten of an account continue, so
 * that a look costs little more than what it starts.
 */
export const LOOKED = { accounts: 50, replays: 100, parts: 20 };

/** Where looks begin: before every id. */
export const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/** Whether a replay can continue in a subscription now; `over` once that was switched off or deleted. */
type Fate = 'ready' | 'waits' | 'over';

/** Whether an older replay of subscription `w` than `r` is still running. */
export const IS_BEHIND =
  'EXISTS (SELECT FROM replay_parts o WHERE o.webhook_id = w.id AND o.replay_id < r.id)';

/** A running replay. */
export interface RunningReplay {
  id: string;
  accountId: string;
  /** Started by version 1.1, which stored the progress of some replays in their own row. */
  isWithoutPart: boolean;
}

/** The running replays of the next accounts that have any, after one each. An account without further ones has a row, too. */
export const NEXT_REPLAYS = prepared<
  { account: string; accountIds: string[]; afters: string[] },
  RunningReplay | { accountId: string; id: null }
>(
  'replays.next',
  `
WITH RECURSIVE account AS (
  (SELECT account_id, 1 AS number FROM replays
   WHERE state = 'running' AND account_id > @account::bigint ORDER BY account_id, id LIMIT 1)
  UNION ALL
  SELECT next.account_id, account.number + 1 FROM account CROSS JOIN LATERAL (
    SELECT account_id FROM replays WHERE state = 'running' AND account_id > account.account_id
    ORDER BY account_id, id LIMIT 1
  ) next
  WHERE account.number < ${LOOKED.accounts}
)
SELECT a.account_id AS "accountId", r.id, r.generation IS NOT NULL AS "isWithoutPart"
FROM account a
  LEFT JOIN unnest(@accountIds::bigint[], @afters::uuid[]) AS seen(account_id, after)
    ON seen.account_id = a.account_id
  LEFT JOIN LATERAL (
    -- Not =, for which the planner would choose the index of all replays, and read those that have ended.
    SELECT * FROM replays
    WHERE state = 'running' AND account_id BETWEEN a.account_id AND a.account_id
      AND id > coalesce(seen.after, '${LEAST_ID}'::uuid)
    ORDER BY account_id, id LIMIT ${LOOKED.replays}
  ) r ON true`,
);

/** Moves the progress of a replay from its own row to a part. Versions after 1.2 do not need this. */
export const ADD_PARTS = prepared<Ids>(
  'replays.add_parts',
  `
WITH whole AS (
  SELECT id, generation FROM replays WHERE id = ANY (@ids::uuid[]) AND generation IS NOT NULL
  FOR UPDATE SKIP LOCKED
),
moved AS (
  UPDATE replays r SET generation = NULL FROM whole WHERE r.id = whole.id
  RETURNING r.id, r.webhook_id, whole.generation, r.after
)
INSERT INTO replay_parts (replay_id, webhook_id, generation, after) SELECT * FROM moved`,
);

/** What a replay has left to do in one subscription. */
export interface ReplayPart extends Pick<Replay, 'id' | 'states' | 'until'> {
  accountId: string;
  webhookId: string;
  missed: boolean;
  /** The last delivery that the replay has reached, or the last event if it sends missed ones. */
  after: string;
  event: string | null;
  applicationId: string | null;
  status: string | null;
  /** The beginning of the time that is recovered, if the replay is of a recovery. */
  recoveredSince: Date | null;
  fate: Fate;
}

/** The next parts of replays; one that has no further part has a row, too. */
export const NEXT_PARTS = prepared<
  { replayIds: string[]; afters: string[] },
  ReplayPart | { id: string; webhookId: null }
>(
  'replays.next_parts',
  `
SELECT r.id, r.account_id AS "accountId", r.states, r.until, r.missed, r.event,
  r.application_id AS "applicationId", r.status, CASE WHEN r.recovery_id IS NOT NULL THEN r.since END AS "recoveredSince",
  p.webhook_id AS "webhookId", p.after,
  CASE
    WHEN w.id IS NULL OR NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> p.generation THEN 'over'
    WHEN ${IS_BLOCKED} OR ${IS_BEHIND} THEN 'waits'
    ELSE 'ready'
  END AS fate
FROM unnest(@replayIds::uuid[], @afters::bigint[]) AS seen(replay_id, after)
  JOIN LATERAL (SELECT * FROM replays WHERE id = seen.replay_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (
    SELECT * FROM replay_parts
    WHERE replay_id BETWEEN r.id AND r.id AND webhook_id > seen.after
    ORDER BY replay_id, webhook_id LIMIT ${LOOKED.parts}
  ) p ON true
  -- Looks each one up, because the planner would read all subscriptions to join them.
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = p.webhook_id LIMIT 1) w ON true`,
);

/** Removes parts whose subscription was switched off or deleted, and cancels the replay if it names that subscription. */
export const END_PARTS = prepared<Ids & { webhookIds: string[] }>(
  'replays.end_parts',
  `
WITH ending AS MATERIALIZED (
  SELECT p.ctid AS part, r.id, r.webhook_id
  FROM unnest(@ids::uuid[], @webhookIds::bigint[]) AS n(id, webhook_id)
    JOIN replay_parts p ON p.replay_id = n.id AND p.webhook_id = n.webhook_id
    JOIN replays r ON r.id = p.replay_id
  FOR UPDATE OF p, r SKIP LOCKED
),
removed AS (
  DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(SELECT part FROM ending))
)
UPDATE replays SET state = 'cancelled', completed_at = now()
WHERE id = ANY (ARRAY(SELECT id FROM ending WHERE webhook_id IS NOT NULL)) AND state = 'running'`,
);

/** Completes replays without parts: their subscriptions were switched off, or two workers ended the last parts at once. */
export const COMPLETE_REPLAYS = prepared<Ids>(
  'replays.complete',
  `
UPDATE replays SET state = 'completed', completed_at = now()
WHERE id = ANY (ARRAY(
  SELECT r.id FROM replays r
  WHERE r.id = ANY (@ids::uuid[]) AND r.state = 'running'
    AND r.generation IS NULL AND NOT EXISTS (SELECT FROM replay_parts WHERE replay_id = r.id)
  FOR UPDATE SKIP LOCKED
))`,
);

/** The next replays that have parts, and whether each has ended. */
export const NEXT_WITH_PARTS = prepared<{ after: string }, { id: string; hasEnded: boolean }>(
  'replays.next_with_parts',
  `
WITH RECURSIVE step AS (
  (SELECT replay_id, 1 AS number FROM replay_parts WHERE replay_id > @after::uuid
   ORDER BY replay_id, webhook_id LIMIT 1)
  UNION ALL
  SELECT next.replay_id, step.number + 1 FROM step CROSS JOIN LATERAL (
    SELECT replay_id FROM replay_parts WHERE replay_id > step.replay_id
    ORDER BY replay_id, webhook_id LIMIT 1
  ) next
  WHERE step.number < ${LOOKED.replays}
)
SELECT s.replay_id AS id, r.state IS DISTINCT FROM 'running' AS "hasEnded"
FROM step s LEFT JOIN LATERAL (SELECT state FROM replays WHERE id = s.replay_id LIMIT 1) r ON true
ORDER BY s.number`,
);

/** Removes some parts of replays that have ended. */
export const FORGET_PARTS = prepared<Ids>(
  'replays.forget_parts',
  `
DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM replay_parts WHERE replay_id = ANY (@ids::uuid[])
  ORDER BY replay_id, webhook_id LIMIT 1000 FOR UPDATE SKIP LOCKED
))`,
);
