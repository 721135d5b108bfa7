import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  type AttemptOutcome,
  type DeliveryStatistics,
  DeliveryStatisticsStore,
  outcomesOf,
  type Waiting,
} from '../domain/delivery-statistics.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import {
  type AttemptOutcomeRow,
  countWaiting,
  countWaitingOfAccount,
  DAYS_OF_ATTEMPTS,
  DAYS_OF_DELIVERIES,
  findAttempted,
  listAttemptsOf,
} from './delivery-statistics.statements.js';
import { byDay } from '../../partitions/partition-days.js';
import {
  daysListed,
  firstDayOf,
  newestFirst,
  readUpTo,
  type Span,
  spansOf,
} from '../../partitions/partition-walk.js';

/** Limit of counted attempts, and of the deliveries that they belong to. */
const NEWEST = 1_000;

/** Most waiting deliveries that are counted. */
const MOST_WAITING = 100_000;

/** Statistics from the delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStatisticsStore extends DeliveryStatisticsStore {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async of(webhook: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics> {
    const outcomes = outcomesOf(await this.newestAttempts(webhook));
    return { ...outcomes, waiting: await this.waiting(webhook) };
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
    return waitingIn(spans, (span, limit) =>
      query(countWaitingOfAccount(span), { accountId, limit }),
    );
  }

  private waiting(webhook: Pick<Webhook, 'id' | 'createdAt'>): Promise<Waiting> {
    return waitingIn(this.spansOf(webhook), (span, limit) =>
      this.transactions.query(countWaiting(span), { webhookId: webhook.id, limit }),
    );
  }

  private spansOf(webhook: Pick<Webhook, 'id' | 'createdAt'>): AsyncGenerator<Span> {
    const range = { ...daysListed({}), first: firstDayOf(webhook.createdAt) };
    return newestFirst(this.transactions.query, 'deliveries', DAYS_OF_DELIVERIES, range);
  }
}

/** Counts span by span, at most {@link MOST_WAITING}. */
async function waitingIn(
  spans: AsyncIterable<Span>,
  count: (span: Span, limit: number) => Promise<{ deliveries: number; since: Date | null }[]>,
): Promise<Waiting> {
  let [deliveries, since] = [0, undefined as Date | undefined];
  for await (const span of spans) {
    const [row] = await count(span, MOST_WAITING - deliveries);
    deliveries += row?.deliveries ?? 0;
    since = row?.since ?? since;
    if (deliveries >= MOST_WAITING) break;
  }
  return { deliveries, ...(since && { since }) };
}
