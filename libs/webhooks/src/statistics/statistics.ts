import { Injectable } from '@nestjs/common';
import { prepared, statement, TypeOrmTransactions } from '#libs/runtime';
import { WebhooksService } from '../subscriptions/domain/webhooks.service.js';
import {
  daysAtOnce,
  daysListed,
  newestFirst,
  type Span,
  within,
} from '../partitions/partition-days.js';
import {
  ALL_WEBHOOKS,
  type AttemptCount,
  type AttemptHistory,
  type AttemptSummary,
  bucketsOf,
  lastDay,
  historyOf,
  type HistoryRange,
  INSTALLATION,
} from './domain/attempt-history.js';

/** Pending deliveries, and when the oldest was created. */
interface Waiting {
  deliveries: number;
  since?: Date;
}

/** Of an account, also by the ids of its subscriptions. */
interface AccountWaiting extends Waiting {
  bySubscription: Record<string, number>;
}

/** Most waiting deliveries that are counted. */
const MOST_WAITING = 100_000;

/** How many days {@link countWaiting} may cover. */
const DAYS_OF_DELIVERIES = daysAtOnce('deliveries');

export const READ_COUNTS = prepared<
  {
    accountId: string;
    webhookId: string;
    least: string;
    since: string;
    until: string;
    widthS: number;
  },
  AttemptCount
>(
  'attempt-counts.read',
  `
SELECT (extract(epoch FROM start - @since::timestamptz) / @widthS::integer)::integer AS bucket,
  outcome, bin, count::float8
FROM (
  SELECT date_bin(make_interval(secs => @widthS::integer), at, @least::timestamptz) AS start,
    outcome, bin, sum(count) AS count
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = @webhookId
    AND at >= @least::timestamptz AND at < @until::timestamptz
  GROUP BY 1, 2, 3
) c`,
);

/** Counts at most `limit` waiting deliveries of an account's subscriptions, or of one of them. */
export function countWaiting(span: Span) {
  return statement<
    { accountId: string; webhookId: string | undefined; limit: number },
    { id: string; deliveries: number; since: Date }
  >(`
SELECT id, count(*)::integer AS deliveries, min(created_at) AS since
FROM (
  SELECT w.id, d.created_at FROM webhooks w CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation = w.generation
      AND ${within('id', span)}
    LIMIT @limit::integer
  ) d
  WHERE w.deleted_at IS NULL AND w.account_id = @accountId
    AND (@webhookId::bigint IS NULL OR w.id = @webhookId)
  LIMIT @limit::integer
) d
GROUP BY id`);
}

/** Shows how attempts went, and how many deliveries wait. */
@Injectable()
export class Statistics {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly transactions: TypeOrmTransactions,
  ) {}

  /**
   * Of a subscription, with its history if a range is asked for.
   * @throws NotFoundError, ValidationError
   */
  async of(
    accountId: string,
    webhookId: string,
    range?: HistoryRange,
  ): Promise<
    AttemptSummary & { successRate?: number; waiting: Waiting; history?: AttemptHistory }
  > {
    const { id } = await this.webhooks.get(accountId, webhookId);
    const { buckets, before, ...summary } = await this.history(accountId, id, range ?? lastDay());
    const { attempts, outcomes } = summary;
    const { deliveries, since } = await this.waiting(accountId, id);
    return {
      ...summary,
      ...(attempts > 0 && { successRate: (outcomes['2xx'] ?? 0) / attempts }),
      waiting: { deliveries, ...(since && { since }) },
      ...(range && { history: { ...summary, buckets, before } }),
    };
  }

  /** Of all subscriptions of the account. @throws ValidationError */
  async ofAccount(
    accountId: string,
    range: HistoryRange,
  ): Promise<AttemptHistory & { waiting: AccountWaiting }> {
    const history = await this.history(accountId, undefined, range);
    return { ...history, waiting: await this.waiting(accountId, undefined) };
  }

  /** Of all accounts. @throws ValidationError */
  ofInstallation(range: HistoryRange): Promise<AttemptHistory> {
    return this.history(INSTALLATION, undefined, range);
  }

  private async history(
    accountId: string,
    webhookId: string | undefined,
    range: HistoryRange,
  ): Promise<AttemptHistory> {
    const buckets = bucketsOf(range);
    const { sinceMs, widthMs, count } = buckets;
    const counts = await this.transactions.query(READ_COUNTS, {
      accountId,
      webhookId: webhookId ?? ALL_WEBHOOKS,
      least: new Date(sinceMs - count * widthMs).toISOString(),
      since: new Date(sinceMs).toISOString(),
      until: new Date(sinceMs + count * widthMs).toISOString(),
      widthS: widthMs / 1_000,
    });
    return historyOf(buckets, counts);
  }

  /** Counts span by span, at most {@link MOST_WAITING}. */
  private async waiting(accountId: string, webhookId: string | undefined): Promise<AccountWaiting> {
    const { query } = this.transactions;
    const bySubscription: Record<string, number> = {};
    let [deliveries, since] = [0, undefined as Date | undefined];
    for await (const span of newestFirst(query, 'deliveries', DAYS_OF_DELIVERIES, daysListed({}))) {
      const values = { accountId, webhookId, limit: MOST_WAITING - deliveries };
      for (const row of await query(countWaiting(span), values)) {
        deliveries += row.deliveries;
        bySubscription[row.id] = (bySubscription[row.id] ?? 0) + row.deliveries;
        since = since && since < row.since ? since : row.since;
      }
      if (deliveries >= MOST_WAITING) break;
    }
    return { deliveries, ...(since && { since }), bySubscription };
  }
}
