import { prepared } from '#libs/runtime';
import type { Replay } from './domain/replay.js';
import { IS_BLOCKED } from '../subscriptions/webhook-flow.js';

/** Limits of one look: accounts, and subscriptions of each. */
export const LOOKED = { accounts: 50, subscriptions: 200 };

/** Before every id. */
export const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Whether a replay can continue in a subscription now: `over` once that was disabled or deleted, `ended` if the
 * whole replay has ended.
 */
type Fate = 'ready' | 'waits' | 'over' | 'ended';

/** Whether an older replay of subscription `w` than `r` is still running. */
export const IS_BEHIND =
  'EXISTS (SELECT FROM replay_parts o WHERE o.account_id = w.account_id AND o.webhook_id = w.id AND o.replay_id < r.id)';

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

const nextPart = (condition: string): string => `(
    SELECT account_id, webhook_id, replay_id, generation, after FROM replay_parts WHERE ${condition}
    ORDER BY account_id, webhook_id, replay_id LIMIT 1
  )`;

/**
 * The oldest parts of the next subscriptions, of the accounts behind one: of each account, those behind a subscription,
 * or its first ones if there are none. BETWEEN keeps the planner from leaving the order of the index.
 */
export const NEXT_PARTS = prepared<
  { account: string; accountIds: string[]; afters: string[] },
  ReplayPart
>(
  'replays.next_parts',
  `
WITH RECURSIVE account AS (
  SELECT account_id, 1 AS number FROM ${nextPart('account_id > @account::bigint')} first
  UNION ALL
  SELECT next.account_id, account.number + 1
  FROM account CROSS JOIN LATERAL ${nextPart('account_id > account.account_id')} next
  WHERE account.number < ${LOOKED.accounts}
),
part AS (
  SELECT first.*, 1 AS number
  FROM account a LEFT JOIN unnest(@accountIds::bigint[], @afters::bigint[]) AS seen(account_id, after)
      ON seen.account_id = a.account_id
    CROSS JOIN LATERAL (
      SELECT * FROM ${nextPart('account_id BETWEEN a.account_id AND a.account_id AND webhook_id > seen.after')} further
      UNION ALL SELECT * FROM ${nextPart('account_id BETWEEN a.account_id AND a.account_id')} again
      LIMIT 1
    ) first
  UNION ALL
  SELECT next.*, part.number + 1 FROM part CROSS JOIN LATERAL ${nextPart(
    'account_id BETWEEN part.account_id AND part.account_id AND webhook_id > part.webhook_id',
  )} next
  WHERE part.number < ${LOOKED.subscriptions}
)
SELECT p.replay_id AS id, p.account_id AS "accountId", p.webhook_id AS "webhookId", p.after, r.states, r.until, r.missed,
  r.event, r.application_id AS "applicationId", r.status,
  CASE WHEN r.recovery_id IS NOT NULL THEN r.since END AS "recoveredSince",
  CASE
    WHEN r.state IS DISTINCT FROM 'running' THEN 'ended'
    WHEN w.id IS NULL OR NOT w.enabled OR w.deleted_at IS NOT NULL OR w.generation <> p.generation THEN 'over'
    WHEN ${IS_BLOCKED} THEN 'waits'
    ELSE 'ready'
  END AS fate
FROM part p
  -- Looks each one up, because the planner would read all replays and subscriptions to join them.
  LEFT JOIN LATERAL (SELECT * FROM replays WHERE id = p.replay_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT * FROM webhooks WHERE id = p.webhook_id LIMIT 1) w ON true
ORDER BY p.account_id, p.webhook_id`,
);

interface Ids {
  ids: string[];
}

/** Removes parts whose subscription was disabled or deleted, and leaves out what remained. The last one ends the replay. */
export const END_PARTS = prepared<Ids & { webhookIds: string[] }>(
  'replays.end_parts',
  `
WITH ending AS MATERIALIZED (
  SELECT p.ctid AS part, r.id, p.remaining, EXISTS (
    SELECT FROM webhooks WHERE id = p.webhook_id AND deleted_at IS NULL
  ) AS is_off
  FROM unnest(@ids::uuid[], @webhookIds::bigint[]) AS n(id, webhook_id)
    JOIN replay_parts p ON p.replay_id = n.id AND p.webhook_id = n.webhook_id
    JOIN replays r ON r.id = p.replay_id
  FOR UPDATE OF p, r SKIP LOCKED
),
removed AS (
  DELETE FROM replay_parts WHERE ctid = ANY (ARRAY(SELECT part FROM ending))
)
UPDATE replays r SET parts = r.parts - ended.count,
  left_off = r.left_off + ended.off, left_deleted = r.left_deleted + ended.deleted,
  state = CASE WHEN r.parts > ended.count THEN r.state WHEN r.webhook_id IS NULL THEN 'completed' ELSE 'cancelled' END,
  completed_at = CASE WHEN r.parts = ended.count THEN now() END
FROM (
  SELECT id, count(*)::integer AS count, coalesce(sum(remaining) FILTER (WHERE is_off), 0) AS off,
    coalesce(sum(remaining) FILTER (WHERE NOT is_off), 0) AS deleted
  FROM ending GROUP BY id
) ended
WHERE r.id = ended.id AND r.state = 'running'`,
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
