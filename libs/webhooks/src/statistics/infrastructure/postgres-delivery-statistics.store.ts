import { Injectable } from '@nestjs/common';
import { type RowOf, statement, TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  type AttemptOutcome,
  type DeliveryStatistics,
  DeliveryStatisticsStore,
  outcomesOf,
  type Waiting,
} from '../domain/delivery-statistics.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import {
  byDay,
  daysAtOnce,
  daysListed,
  firstDayOf,
  newestFirst,
  readUpTo,
  type Span,
  spansOf,
  within,
} from '../../partitions/partition-days.js';

/** Limit of counted attempts, and of the deliveries that they belong to. */
const NEWEST = 1_000;

/** Most waiting deliveries that are counted. */
const MOST_WAITING = 100_000;

/** How many days {@link findAttempted} and {@link countWaiting} may cover. */
const DAYS_OF_DELIVERIES = daysAtOnce('deliveries');
/** How many days {@link listAttemptsOf} may cover. */
const DAYS_OF_ATTEMPTS = daysAtOnce('attempts');

export function findAttempted(span: Span) {
  return statement<{ webhookId: string; limit: number }, { id: string }>(`
SELECT id FROM deliveries
WHERE webhook_id = @webhookId AND attempts > 0 AND ${within('id', span)}
ORDER BY id DESC LIMIT @limit`);
}

type AttemptOutcomeRow = RowOf<AttemptOutcome> & { at: Date };

/** Looks up each delivery separately, because a plain join would read whole partitions. */
export function listAttemptsOf(span: Span) {
  return statement<{ ids: string[]; limit: number }, AttemptOutcomeRow>(`
SELECT a.at, a.status, a.error, a.duration_ms AS "durationMs"
FROM unnest(@ids::uuid[]) AS d(id) CROSS JOIN LATERAL (
  SELECT * FROM attempts WHERE delivery_id = d.id AND ${within('delivery_id', span)} LIMIT @limit
) a
ORDER BY a.at DESC LIMIT @limit`);
}

/** Counts at most `limit` waiting deliveries, of a subscription or else of all of an account. */
export function countWaiting(span: Span) {
  return statement<
    { webhookId: string | undefined; accountId: string | undefined; limit: number },
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
  WHERE w.deleted_at IS NULL AND (w.id = @webhookId::bigint
    OR @webhookId::bigint IS NULL AND w.account_id = @accountId::bigint)
  LIMIT @limit::integer
) d`);
}

/** Statistics from the delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStatisticsStore extends DeliveryStatisticsStore {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async of(webhook: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics> {
    const outcomes = outcomesOf(await this.newestAttempts(webhook));
    const waiting = await this.waitingIn(this.spansOf(webhook), {
      ...{ webhookId: webhook.id, accountId: undefined },
    });
    return { ...outcomes, waiting };
  }

  /**
   * Finds attempts through their deliveries, so these are the newest attempts of the newest deliveries. A
   * late retry of an old delivery does not count.
   */
  private async newestAttempts(
    webhook: Pick<Webhook, 'id' | 'createdAt'>,
  ): Promise<AttemptOutcome[]> {
    const deliveries = await readUpTo(NEWEST, this.spansOf(webhook), (span, limit) =>
      this.transactions.query(findAttempted(span), { webhookId: webhook.id, limit }),
    );
    const days = byDay(deliveries, ({ id }) => id);
    const rows: AttemptOutcomeRow[] = [];
    for (const span of spansOf([...days.keys()], DAYS_OF_ATTEMPTS)) {
      const ids = [...days].flatMap(([day, of]) =>
        day >= span.first && day <= span.last ? of.map(({ id }) => id) : [],
      );
      const values = { ids, limit: NEWEST };
      rows.push(...(await this.transactions.query(listAttemptsOf(span), values)));
    }
    rows.sort((one, other) => other.at.getTime() - one.at.getTime());
    return rows.slice(0, NEWEST).map(withoutNulls<AttemptOutcome>);
  }

  waitingOf(accountId: string): Promise<Waiting> {
    const { query } = this.transactions;
    const spans = newestFirst(query, 'deliveries', DAYS_OF_DELIVERIES, daysListed({}));
    return this.waitingIn(spans, { webhookId: undefined, accountId });
  }

  /** Counts span by span, at most {@link MOST_WAITING}. */
  private async waitingIn(
    spans: AsyncIterable<Span>,
    of: { webhookId: string | undefined; accountId: string | undefined },
  ): Promise<Waiting> {
    let [deliveries, since] = [0, undefined as Date | undefined];
    for await (const span of spans) {
      const values = { ...of, limit: MOST_WAITING - deliveries };
      const [row] = await this.transactions.query(countWaiting(span), values);
      deliveries += row?.deliveries ?? 0;
      since = row?.since ?? since;
      if (deliveries >= MOST_WAITING) break;
    }
    return { deliveries, ...(since && { since }) };
  }

  private spansOf(webhook: Pick<Webhook, 'id' | 'createdAt'>): AsyncGenerator<Span> {
    const range = { ...daysListed({}), first: firstDayOf(webhook.createdAt) };
    return newestFirst(this.transactions.query, 'deliveries', DAYS_OF_DELIVERIES, range);
  }
}
