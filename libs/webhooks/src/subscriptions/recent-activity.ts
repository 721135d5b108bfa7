import { Injectable } from '@nestjs/common';
import { statement, TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { DAY_MS, leastIdAt } from '../partitions/partition-days.js';

/** How the attempts of a subscription went in the last 24 hours. */
export interface RecentActivity {
  succeeded: number;
  failed: number;
  /** When the newest delivery was created; absent if that was more than seven days ago. */
  lastDeliveryAt?: Date;
  /** Absent if no notification has ever succeeded. */
  lastSuccessAt?: Date;
}

/** How many subscriptions a statement covers, each with up to a day of counts. */
const SUBSCRIPTIONS_AT_ONCE = 100;

/**
 * For each subscription, reads one range of its counts and the newest of its deliveries of each day.
 * BETWEEN hides from the planner that all rows have one subscription, so that it uses the index that begins with it.
 * Not prepared, so that PostgreSQL plans for these ids and opens only the partitions of these days.
 */
export const READ_ACTIVITY = statement<
  { accountId: string; ids: readonly string[]; since: string; least: string; greatest: string },
  {
    id: string;
    succeeded: number;
    failed: number;
    lastDeliveryAt: Date | null;
    lastSuccessAt: Date | null;
  }
>(`
SELECT w.id, c.succeeded, c.failed, d.created_at AS "lastDeliveryAt",
  -- The stored time is about ten seconds old.
  greatest(s.at, CASE WHEN d.state = 'succeeded' THEN d.completed_at END) AS "lastSuccessAt"
FROM unnest(@ids::bigint[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT coalesce(sum(count) FILTER (WHERE outcome = '2xx'), 0)::float8 AS succeeded,
    coalesce(sum(count) FILTER (WHERE outcome <> '2xx'), 0)::float8 AS failed
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = w.id AND at >= @since::timestamptz
) c
LEFT JOIN LATERAL (
  SELECT created_at, state, completed_at FROM deliveries
  WHERE webhook_id BETWEEN w.id AND w.id AND id >= @least::uuid AND id < @greatest::uuid
  ORDER BY webhook_id DESC, id DESC LIMIT 1
) d ON true
LEFT JOIN webhook_successes s ON s.webhook_id = w.id`);

const DAYS_OF_DELIVERIES = 7;

/** Reads how the attempts of subscriptions went, from the counts of attempts and the log of deliveries. */
@Injectable()
export class RecentActivityReader {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  /**
   * By the ids of subscriptions. Attempts are about ten seconds old.
   * @param ids of subscriptions of the account
   */
  async of(accountId: string, ids: readonly string[]): Promise<Map<string, RecentActivity>> {
    const found = new Map<string, RecentActivity>();
    const now = Date.now();
    const range = {
      since: new Date(now - DAY_MS).toISOString(),
      least: leastIdAt(now - DAYS_OF_DELIVERIES * DAY_MS),
      // PostgreSQL's clock may be ahead.
      greatest: leastIdAt(now + DAY_MS),
    };
    for (let from = 0; from < ids.length; from += SUBSCRIPTIONS_AT_ONCE) {
      const some = ids.slice(from, from + SUBSCRIPTIONS_AT_ONCE);
      const rows = await this.transactions.query(READ_ACTIVITY, { accountId, ids: some, ...range });
      for (const { id, ...activity } of rows) found.set(id, withoutNulls<RecentActivity>(activity));
    }
    return found;
  }
}
