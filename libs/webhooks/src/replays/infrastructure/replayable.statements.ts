import { MAX_SCANNED_ROWS, type ScannedRow } from '#libs/kernel';
import { statement } from '#libs/runtime';
import type { ReplayFilter } from '../domain/replay.js';
import { hasResult } from '../../deliveries/infrastructure/last-result.statements.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-walk.js';

/** How many days {@link countReplayable} and {@link findReplayable} may cover. */
export const DAYS_FOUND = daysAtOnce('deliveries', 'events', 'attempts');

/** Which of a subscription's deliveries a replay sends. Times are in ISO 8601. */
export interface ReplayableValues extends Pick<ReplayFilter, 'states'> {
  until: string;
  event: string | undefined;
  applicationId: string | undefined;
  status: string | undefined;
}

/**
 * Deliveries of subscription `w` after one, in order. Unless successes or pending deliveries count, reads only
 * the index of unsuccessful ones, so that a replay of a few failures does not read millions of successes.
 *
 * BETWEEN hides from the planner that all rows have one subscription, so only an index that begins with it has
 * their order. With =, it took the primary key, which has the order of the ids, and read the deliveries of others.
 */
function deliveriesAfter(after: string, limit: number | string, span: Span): string {
  const readsAll = `('succeeded' = ANY (@states::text[]) OR w.cancelling)`;
  const each = (condition: string) => `(
      SELECT id, event_id, event, state, generation FROM deliveries
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
 * Whether delivery `d` of subscription `w` is replayed: tests never are. An outdated delivery counts as
 * cancelled. Looks up the event of each, because the planner would read all to join them.
 */
function matches(span: Span): string {
  return `(d.state = ANY (@states::text[])
      OR ('cancelled' = ANY (@states) AND d.state = 'pending' AND d.generation < w.generation))
    AND (@event::text IS NULL OR d.event = @event)
    AND coalesce((
      SELECT NOT test AND (@applicationId::bigint IS NULL OR application_id = @applicationId)
      FROM events WHERE id = d.event_id AND ${within('id', span)} LIMIT 1
    ), false)
    AND ${hasResult('d.id', span)}`;
}

/** What was found of a subscription. */
export interface CountedDeliveries {
  webhookId: string;
  deliveries: number;
  lookedAt: number;
  /** The last one looked at. */
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
SELECT w.id AS "webhookId", count(*)::integer AS "lookedAt", max(d.id::text) AS last,
  count(*) FILTER (WHERE ${matches(span)})::integer AS deliveries
FROM unnest(@webhookIds::bigint[], @afters::uuid[]) AS o(webhook_id, after)
  JOIN webhooks w ON w.id = o.webhook_id
  CROSS JOIN LATERAL ${deliveriesAfter('o.after', '@limit::integer', span)} d
GROUP BY w.id`);
}

/** The next deliveries of a replay in a subscription, oldest first. */
export function findReplayable(span: Span) {
  return statement<
    ReplayableValues & { webhookId: string; after: string; limit: number },
    ScannedRow
  >(`
SELECT id, "rowNumber", matches FROM (
  SELECT d.id, row_number() OVER (ORDER BY d.id)::integer AS "rowNumber", ${matches(span)} AS matches
  FROM webhooks w CROSS JOIN LATERAL ${deliveriesAfter('@after::uuid', MAX_SCANNED_ROWS, span)} d
  WHERE w.id = @webhookId ORDER BY d.id LIMIT ${MAX_SCANNED_ROWS}
) scanned
WHERE matches OR "rowNumber" = ${MAX_SCANNED_ROWS} ORDER BY id LIMIT @limit::integer`);
}
