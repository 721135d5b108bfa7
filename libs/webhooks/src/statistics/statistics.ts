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
} from './domain/attempt-history.js';

/** Pending deliveries, and when the oldest was created. */
interface Waiting {
  deliveries: number;
  since?: Date;
}

/** Most waiting deliveries that are counted. */
const MOST_WAITING = 100_000;

/** How many days {@link countWaiting} may cover. */
const DAYS_OF_DELIVERIES = daysAtOnce('deliveries');

export const READ_COUNTS = prepared<
  { accountId: string; webhookId: string; since: string; until: string; widthS: number },
  AttemptCount
>(
  'attempt-counts.read',
  `
SELECT (extract(epoch FROM start - @since::timestamptz) / @widthS::integer)::integer AS bucket,
  outcome, bin, count::float8
FROM (
  SELECT date_bin(make_interval(secs => @widthS::integer), at, @since::timestamptz) AS start,
    outcome, bin, sum(count) AS count
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = @webhookId
    AND at >= @since::timestamptz AND at < @until::timestamptz
  GROUP BY 1, 2, 3
) c`,
);

/** Counts at most `limit` waiting deliveries of an account, or of one of its subscriptions. */
export function countWaiting(span: Span) {
  return statement<
    { accountId: string; webhookId: string | undefined; limit: number },
    { deliveries: number; since: Date | null }
  >(`
SELECT count(*)::integer AS deliveries, min(created_at) AS since
FROM (
  SELECT d.created_at FROM webhooks w CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation = w.generation
      AND ${within('id', span)}
    LIMIT @limit::integer
  ) d
  WHERE w.deleted_at IS NULL AND w.account_id = @accountId
    AND (@webhookId::bigint IS NULL OR w.id = @webhookId)
  LIMIT @limit::integer
) d`);
}

/** Shows customers how the attempts of their subscriptions went, and how many deliveries wait. */
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
    const { buckets, ...summary } = await this.history(accountId, id, range ?? lastDay());
    const { attempts, outcomes } = summary;
    return {
      ...summary,
      ...(attempts > 0 && { successRate: (outcomes['2xx'] ?? 0) / attempts }),
      waiting: await this.waiting(accountId, id),
      ...(range && { history: { ...summary, buckets } }),
    };
  }

  /** Of all subscriptions of the account. @throws ValidationError */
  async ofAccount(
    accountId: string,
    range: HistoryRange,
  ): Promise<AttemptHistory & { waiting: Waiting }> {
    const history = await this.history(accountId, undefined, range);
    return { ...history, waiting: await this.waiting(accountId, undefined) };
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
      since: new Date(sinceMs).toISOString(),
      until: new Date(sinceMs + count * widthMs).toISOString(),
      widthS: widthMs / 1_000,
    });
    return historyOf(buckets, counts);
  }

  /** Counts span by span, at most {@link MOST_WAITING}. */
  private async waiting(accountId: string, webhookId: string | undefined): Promise<Waiting> {
    const { query } = this.transactions;
    let [deliveries, since] = [0, undefined as Date | undefined];
    for await (const span of newestFirst(query, 'deliveries', DAYS_OF_DELIVERIES, daysListed({}))) {
      const values = { accountId, webhookId, limit: MOST_WAITING - deliveries };
      const [row] = await query(countWaiting(span), values);
      deliveries += row?.deliveries ?? 0;
      since = row?.since ?? since;
      if (deliveries >= MOST_WAITING) break;
    }
    return { deliveries, ...(since && { since }) };
  }
}
