import { prepared } from '#libs/runtime';
import type { Replay } from '../domain/replay.js';
import { IS_BLOCKED } from '../../subscriptions/infrastructure/webhook-flow.js';

/** Whether any replay is running, or has parts to remove. */
export const IS_ANY_REPLAYING = prepared(
  'replays.any',
  `SELECT id FROM replays WHERE state = 'running' UNION ALL SELECT replay_id FROM replay_parts LIMIT 1`,
);

/**
 * How much one look reads: so many accounts, and of each so many running replays, and of each replay so many
 * parts. Ten of an account continue, so that a look costs little more than what it starts.
 */
export const LOOKED = { accounts: 50, replays: 100, parts: 20 };

/** Where looks begin: before every id. */
export const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/** What can be done for a replay in a subscription now: `over` after it was switched off or deleted. */
type Fate = 'ready' | 'waits' | 'over';

/** Whether an older replay `o` of subscription `w` is still running. */
export function isBehind(replayId: string): string {
  return `(EXISTS (
    SELECT FROM replays o WHERE o.webhook_id = w.id AND o.state = 'running' AND o.id < ${replayId}
  ) OR EXISTS (SELECT FROM replay_parts o WHERE o.webhook_id = w.id AND o.replay_id < ${replayId}))`;
}

/** The {@link Fate} of replay `r` in subscription `w`. */
const fateAt = (generation: string): string => `CASE
    WHEN w.id IS NULL OR NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> ${generation} THEN 'over'
    WHEN ${IS_BLOCKED} OR ${isBehind('r.id')} THEN 'waits'
    ELSE 'ready'
  END`;

/** Looks each one up, because the planner would read all subscriptions to join them. */
const withSubscription = (id: string): string =>
  `LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = ${id} LIMIT 1) w ON true`;

export interface ReadyReplay extends Pick<Replay, 'id' | 'states' | 'until'> {
  accountId: string;
  webhookId: string;
  /** The last delivery that the replay has reached. */
  after: string;
  event: string | null;
  applicationId: string | null;
  status: string | null;
  isPart: boolean;
}

const RUNNING = `r.id, r.account_id AS "accountId", r.states, r.until, r.event,
    r.application_id AS "applicationId", r.status`;

export interface LookedReplay extends ReadyReplay {
  /** Null if it has parts. */
  fate: Fate | null;
}

/** Of the next accounts that have any, the running replays after one; an account without further ones has a row, too. */
export const NEXT_REPLAYS = prepared<
  { account: string; accountIds: string[]; afters: string[] },
  LookedReplay | { accountId: string; id: null }
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
SELECT ${RUNNING.replace('r.account_id', 'a.account_id')}, r.webhook_id AS "webhookId", r.after, false AS "isPart",
  CASE WHEN r.generation IS NOT NULL THEN ${fateAt('r.generation')} END AS fate
FROM account a
  LEFT JOIN unnest(@accountIds::bigint[], @afters::uuid[]) AS seen(account_id, after)
    ON seen.account_id = a.account_id
  LEFT JOIN LATERAL (
    -- Not =, for which the planner would choose the index of all replays, and read those that have ended.
    SELECT * FROM replays
    WHERE state = 'running' AND account_id BETWEEN a.account_id AND a.account_id
      AND id > coalesce(seen.after, '${LEAST_ID}'::uuid)
    ORDER BY account_id, id LIMIT ${LOOKED.replays}
  ) r ON true
  ${withSubscription('r.webhook_id')}`,
);

export interface LookedPart extends ReadyReplay {
  fate: Fate;
  /** Whether the replay is of this subscription alone. */
  isOnly: boolean;
}

/** The next parts of replays; one that has no further part has a row, too. */
export const NEXT_PARTS = prepared<
  { replayIds: string[]; afters: string[] },
  LookedPart | { id: string; webhookId: null }
>(
  'replays.next_parts',
  `
SELECT ${RUNNING}, p.webhook_id AS "webhookId", p.after, true AS "isPart",
  r.webhook_id IS NOT NULL AS "isOnly", ${fateAt('p.generation')} AS fate
FROM unnest(@replayIds::uuid[], @afters::bigint[]) AS seen(replay_id, after)
  JOIN LATERAL (SELECT * FROM replays WHERE id = seen.replay_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (
    SELECT * FROM replay_parts
    WHERE replay_id BETWEEN r.id AND r.id AND webhook_id > seen.after
    ORDER BY replay_id, webhook_id LIMIT ${LOOKED.parts}
  ) p ON true
  ${withSubscription('p.webhook_id')}`,
);

interface Ids {
  ids: string[];
}

const endAs = (state: string, condition: string): string => `
UPDATE replays SET state = '${state}', completed_at = now()
WHERE id = ANY (ARRAY(
  SELECT r.id FROM replays r
  WHERE r.id = ANY (@ids::uuid[]) AND r.state = 'running' ${condition} FOR UPDATE SKIP LOCKED
))`;

/** Ends replays of one subscription that was switched off or deleted after they were requested. */
export const END_REPLAYS = prepared<Ids>('replays.end', endAs('cancelled', ''));

/** Completes replays whose parts have all ended. */
export const COMPLETE_REPLAYS = prepared<Ids>(
  'replays.complete',
  endAs(
    'completed',
    'AND r.generation IS NULL AND NOT EXISTS (SELECT FROM replay_parts WHERE replay_id = r.id)',
  ),
);

/** Removes parts whose subscription was switched off or deleted. */
export const END_PARTS = prepared<Ids & { webhookIds: string[] }>(
  'replays.end_parts',
  `
DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(
  SELECT p.ctid FROM unnest(@ids::uuid[], @webhookIds::bigint[]) AS n(id, webhook_id)
    JOIN replay_parts p ON p.replay_id = n.id AND p.webhook_id = n.webhook_id
  FOR UPDATE OF p SKIP LOCKED
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
