import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { type RecentActivity, RecentActivityReader } from '../domain/recent-activity.js';
import { READ_ACTIVITY, SUBSCRIPTIONS_AT_ONCE } from './recent-activity.statements.js';

const DAY_MS = 86_400_000;
const DAYS_OF_DELIVERIES = 7;

/** What has lately happened, by the counts of attempts and the log of deliveries in PostgreSQL. */
@Injectable()
export class PostgresRecentActivity extends RecentActivityReader {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async of(
    accountId: string,
    ids: readonly string[],
  ): Promise<Map<string, RecentActivity>> {
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

/** The lower bound of the ids that are created at a time, in ms. */
function leastIdAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
