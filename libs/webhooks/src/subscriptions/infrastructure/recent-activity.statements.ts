import { statement } from '#libs/runtime';

/** How many subscriptions a statement covers, each with up to a day of counts. */
export const SUBSCRIPTIONS_AT_ONCE = 100;

/**
 * Looks each subscription up: one range of the key of its counts, and the newest row of its deliveries for each day.
 * BETWEEN hides from the planner that all rows have one subscription, so that it uses the index that begins with it.
 * Not prepared, so that PostgreSQL plans for these ids and opens only the partitions of these days.
 */
export const READ_ACTIVITY = statement<
  { accountId: string; ids: readonly string[]; since: string; least: string; greatest: string },
  { id: string; succeeded: number; failed: number; lastDeliveryAt: Date | null }
>(`
SELECT w.id, c.succeeded, c.failed, d.created_at AS "lastDeliveryAt"
FROM unnest(@ids::bigint[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT coalesce(sum(count) FILTER (WHERE outcome = '2xx'), 0)::float8 AS succeeded,
    coalesce(sum(count) FILTER (WHERE outcome <> '2xx'), 0)::float8 AS failed
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = w.id AND at >= @since::timestamptz
) c
LEFT JOIN LATERAL (
  SELECT created_at FROM deliveries
  WHERE webhook_id BETWEEN w.id AND w.id AND id >= @least::uuid AND id < @greatest::uuid
  ORDER BY webhook_id DESC, id DESC LIMIT 1
) d ON true`);
