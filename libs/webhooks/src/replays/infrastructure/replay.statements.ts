import { MAX_SCANNED_ROWS, type ScannedRow } from '#libs/kernel';
import { ALL_WORKERS_HOLD, type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import {
  type LeftOutReason,
  MAX_RUNNING,
  type Replay,
  type ReplayFilter,
} from '../domain/replay.js';
import { hasResult, wasSilent } from '../../deliveries/attempts.statements.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import { isLastOf } from '../../partitions/row-lookups.js';
import type { SendConditions } from '../../subscriptions/domain/send-outlook.js';
import { SEND_CONDITIONS } from '../../subscriptions/webhook-flow.js';

/** The end of the range is at most now. `after`: where the range begins. */
export const BOUNDS_OF_RANGE = statement<
  { since: string; until: string | undefined },
  { until: Date; after: string }
>(
  `SELECT date_trunc('milliseconds', least(@until::timestamptz, now())) AS until,
     least_uuid(@since::timestamptz) AS after`,
);

/** Whether all workers hold their deliveries, because of a fault of the service itself. */
export const IS_HOLDING = prepared<NoValues, { isHolding: boolean }>(
  'replays.is_holding',
  `SELECT coalesce(${ALL_WORKERS_HOLD}, false) AS "isHolding"`,
);

/** How many subscriptions {@link SUBSCRIPTIONS} finds at once. */
export const SUBSCRIPTIONS_AT_ONCE = 100;

export interface CountedSubscription extends SendConditions {
  id: string;
  generation: number;
  enabled: boolean;
}

/** An account's subscriptions that are not deleted, or one of them, in the order of their ids after `after`. */
export const SUBSCRIPTIONS = statement<
  { accountId: string; webhookId: string | undefined; after: string },
  CountedSubscription
>(
  `SELECT id, generation, enabled, ${SEND_CONDITIONS},
     EXISTS (SELECT FROM replay_parts p WHERE p.account_id = w.account_id AND p.webhook_id = w.id) AS "isBehind"
   FROM webhooks w
   WHERE account_id = @accountId AND deleted_at IS NULL
     AND (@webhookId::bigint IS NULL OR id = @webhookId) AND id > @after
   ORDER BY id LIMIT ${SUBSCRIPTIONS_AT_ONCE}`,
);

/** An account's subscriptions that were deleted since a time, like {@link SUBSCRIPTIONS}: others had no deliveries then. */
export const DELETED_SUBSCRIPTIONS = statement<
  { accountId: string; since: string; after: string },
  { id: string }
>(
  `SELECT id FROM webhooks WHERE account_id = @accountId AND deleted_at >= @since::timestamptz AND id > @after
   ORDER BY id LIMIT ${SUBSCRIPTIONS_AT_ONCE}`,
);

/**
 * Selects the `replays` of one subscription or, without `@webhookId`, an account's replays of all its subscriptions.
 * Its statements are not prepared, so that the planner sees which. Leaves out those of notices (`tell_of_webhook`) and of
 * recoveries, which are not the customer's.
 */
const IS_ALIKE = `(recovery_id IS NULL AND ((webhook_id = @webhookId::bigint AND NOT (missed AND event IS NOT NULL))
    OR @webhookId::bigint IS NULL AND webhook_id IS NULL AND account_id = @accountId::bigint))`;

interface NewReplay extends Pick<ReplayFilter, 'states'> {
  accountId: string;
  webhookId: string | undefined;
  since: string;
  until: string;
  after: string;
  event: string | undefined;
  applicationId: string | undefined;
  status: string | undefined;
  missed: boolean;
  total: number;
  off: number;
  deleted: number;
  tests: number;
  erased: number;
  /** The subscriptions of its parts. */
  webhookIds: string[];
  generations: number[];
  /** How many deliveries each of them has to send. */
  counts: number[];
}

/**
 * Does not count the deliveries itself. If it took longer than the caller waits, the replay would still
 * start, and the caller would request it again.
 */
export const START_REPLAY = statement<NewReplay, { id: string }>(`
WITH replay AS (
  INSERT INTO replays (id, webhook_id, account_id, since, until, states, event,
    application_id, status, missed, total, left_off, left_deleted, left_tests, left_erased, parts, state, completed_at)
  SELECT new_uuid(now(), 1), @webhookId::bigint, @accountId::bigint, @since::timestamptz,
    @until::timestamptz, @states::text[], @event::text, @applicationId::bigint, @status::text,
    @missed::boolean, @total::integer, @off::integer, @deleted::integer, @tests::integer, @erased::integer,
    cardinality(@webhookIds::bigint[]),
    CASE cardinality(@webhookIds) WHEN 0 THEN 'completed' ELSE 'running' END,
    CASE cardinality(@webhookIds) WHEN 0 THEN now() END
  WHERE (@webhookId::bigint IS NULL
      OR EXISTS (SELECT FROM webhooks WHERE id = @webhookId AND enabled AND deleted_at IS NULL))
    AND (SELECT count(*) FROM replays WHERE ${IS_ALIKE} AND state = 'running') < ${MAX_RUNNING}
  RETURNING id
),
parts AS (
  INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after, remaining)
  SELECT replay.id, @accountId, p.webhook_id, p.generation, @after::uuid, p.remaining
  FROM replay,
    unnest(@webhookIds::bigint[], @generations::integer[], @counts::integer[]) AS p(webhook_id, generation, remaining)
)
SELECT id FROM replay`);

/** Age of the `times`-th newest replay, if it is within `withinMs`. */
export const EARLIER_REPLAY = statement<
  { accountId: string; webhookId: string | undefined; times: number; withinMs: number },
  { agoMs: number }
>(`
SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS "agoMs"
FROM replays
WHERE ${IS_ALIKE} AND id >= least_uuid(now() - make_interval(secs => @withinMs::float8 / 1000))
ORDER BY id DESC OFFSET @times::integer - 1 LIMIT 1`);

export const FIND_REPLAY = prepared<{ id: string; accountId: string }, RowOf<Replay>>(
  'replays.find',
  `
SELECT id, webhook_id AS "webhookId", since, until, states, event, application_id AS "applicationId",
  status, nullif(missed, false) AS missed, state, total, replayed, json_strip_nulls(json_build_object(
    'off', nullif(left_off, 0), 'deleted', nullif(left_deleted, 0), 'test', nullif(left_tests, 0),
    'erased', nullif(left_erased, 0)
  )) AS "leftOutFor", created_at AS "createdAt", completed_at AS "completedAt"
FROM replays WHERE id = @id AND account_id = @accountId`,
);

export const CANCEL_REPLAY = prepared<{ id: string }, { id: string }>(
  'replays.cancel',
  `
UPDATE replays SET state = 'cancelled', completed_at = now() WHERE id = @id AND state = 'running'
RETURNING id`,
);

export const OWNS_APPLICATION = prepared<{ applicationId: string; accountId: string }>(
  'replays.owns_application',
  'SELECT FROM applications WHERE id = @applicationId AND user_id = @accountId',
);

/** How many days {@link countReplayable} and {@link findReplayable} may cover. */
export const DAYS_FOUND = daysAtOnce('deliveries', 'events', 'attempts');

/** Which of a subscription's deliveries a replay sends. Times are in ISO 8601. */
export interface ReplayableValues extends Pick<ReplayFilter, 'states'> {
  until: string;
  event: string | undefined;
  applicationId: string | undefined;
  status: string | undefined;
  /**
   * Given for a recovery: only those that became exhausted from then until `until` by an attempt without an answer, and
   * those that were cancelled since because the subscription was disabled for its failures.
   */
  recoveredSince: string | undefined;
}

/**
 * Deliveries of subscription `w` after one, in order. Unless successes or pending deliveries count, reads only
 * the index of unsuccessful ones, so that a replay of a few failures does not read millions of successes.
 *
 * BETWEEN hides from the planner that all rows have one subscription, so only an index that begins with it has
 * their order. With =, it took the primary key, which has the order of the ids, and read other subscriptions' rows.
 */
function deliveriesAfter(after: string, limit: number | string, span: Span): string {
  const readsAll = `(@states::text[] && ARRAY['succeeded', 'pending'] OR w.cancelling)`;
  const each = (condition: string) => `(
      SELECT id, event_id, event, state, generation, reason, completed_at FROM deliveries
      WHERE webhook_id BETWEEN w.id AND w.id AND ${condition} AND id > ${after}
        AND id < least_uuid(@until::timestamptz) AND ${within('id', span)}
      ORDER BY webhook_id, id LIMIT ${limit}
    )`;
  return `(
    ${each(readsAll)}
    UNION ALL ${each(`state IN ('exhausted', 'cancelled') AND NOT ${readsAll}`)}
  )`;
}

/**
 * What a replay does with delivery `d` of subscription `w`: null if its filter does not select it, otherwise `sent` or why
 * it is left out. An outdated delivery counts as cancelled. Looks up the event of each, because the planner would read all
 * to join them.
 */
function fateOf(span: Span): string {
  return `CASE WHEN CASE WHEN d.state = 'pending' AND d.generation < w.generation THEN 'cancelled' ELSE d.state END
      = ANY (@states::text[])
    AND (@event::text IS NULL OR d.event = @event)
    AND ${hasResult('d.id', span)}
    AND (@recoveredSince::timestamptz IS NULL OR d.completed_at >= @recoveredSince AND CASE d.state
      WHEN 'exhausted' THEN d.reason = 'no_attempts_left' AND d.completed_at < @until AND ${wasSilent('d.id', span)}
      ELSE d.reason = 'failing' END)
  THEN (
    SELECT CASE WHEN test THEN 'test' WHEN erased_at IS NOT NULL THEN 'erased' ELSE 'sent' END
    FROM events WHERE id = d.event_id AND ${within('id', span)}
      AND (@applicationId::bigint IS NULL OR application_id = @applicationId)
    LIMIT 1
  ) END`;
}

/** Deliveries of a subscription that have the same fate. */
interface CountedDeliveries {
  webhookId: string;
  fate: 'sent' | Extract<LeftOutReason, 'test' | 'erased'> | null;
  deliveries: number;
  /** The last one. */
  last: string;
}

/**
 * Looks at up to `limit` deliveries of each subscription, after the one given for it. Not prepared, because the
 * best plan depends on the times.
 */
export function countReplayable(span: Span) {
  return statement<
    ReplayableValues & { webhookIds: string[]; afters: string[]; limit: number },
    CountedDeliveries
  >(`
SELECT w.id AS "webhookId", ${fateOf(span)} AS fate, count(*)::integer AS deliveries, max(d.id::text) AS last
FROM unnest(@webhookIds::bigint[], @afters::uuid[]) AS o(webhook_id, after)
  JOIN webhooks w ON w.id = o.webhook_id
  CROSS JOIN LATERAL ${deliveriesAfter('o.after', '@limit::integer', span)} d
GROUP BY 1, 2`);
}

/** The next deliveries of a replay in a subscription, oldest first. */
export function findReplayable(span: Span) {
  return statement<
    ReplayableValues & { webhookId: string; after: string; limit: number },
    ScannedRow
  >(`
SELECT id, "isLast", matches FROM (
  SELECT d.id, ${isLastOf('d.id')}, coalesce(${fateOf(span)} = 'sent', false) AS matches
  FROM webhooks w CROSS JOIN LATERAL ${deliveriesAfter('@after::uuid', MAX_SCANNED_ROWS, span)} d
  WHERE w.id = @webhookId ORDER BY d.id LIMIT ${MAX_SCANNED_ROWS}
) scanned
WHERE matches OR "isLast" ORDER BY id LIMIT @limit::integer`);
}
