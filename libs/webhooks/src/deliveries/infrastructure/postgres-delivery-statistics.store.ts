import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#libs/runtime';
import type { AttemptError } from '../domain/delivery.js';
import {
  type AttemptOutcome,
  type DeliveryStatistics,
  DeliveryStatisticsStore,
  outcomesOf,
} from '../domain/delivery-statistics.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { byDay } from './partition-days.js';
import {
  daysAtOnce,
  daysListed,
  firstDayOf,
  newestFirst,
  readUpTo,
  type Span,
  spansOf,
  within,
} from './partition-walk.js';

/** The statistics are about so many attempts at the most, of so many deliveries. */
const NEWEST = 1_000;

const DELIVERY_DAYS = daysAtOnce('deliveries');
const ATTEMPT_DAYS = daysAtOnce('attempts');

/** $1 webhook, $2 limit. */
function attempted(span: Span): Statement {
  return {
    text: `
SELECT id FROM deliveries WHERE webhook_id = $1 AND attempts > 0 AND ${within('id', span)}
ORDER BY id DESC LIMIT $2`,
  };
}

/** $1 deliveries, $2 limit. One delivery after the other: a join would read whole partitions. */
function attemptsOf(span: Span): Statement {
  return {
    text: `
SELECT a.at, a.status, a.error, a.duration_ms
FROM unnest($1::uuid[]) AS d(id) CROSS JOIN LATERAL (
  SELECT * FROM attempts WHERE delivery_id = d.id AND ${within('delivery_id', span)} LIMIT $2
) a
ORDER BY a.at DESC LIMIT $2`,
  };
}

/** $1 webhook. */
function waiting(span: Span): Statement {
  return {
    text: `
SELECT count(*)::integer AS deliveries, min(d.created_at) AS since
FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
WHERE d.webhook_id = $1 AND d.state = 'pending' AND d.generation = w.generation
  AND ${within('d.id', span)}`,
  };
}

interface AttemptRow {
  at: Date;
  status: number | null;
  error: AttemptError | null;
  duration_ms: number;
}

/** Statistics from the delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStatisticsStore extends DeliveryStatisticsStore {
  constructor(private readonly database: Database) {
    super();
  }

  async of(webhook: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics> {
    const outcomes = outcomesOf(await this.newestAttempts(webhook));
    return { ...outcomes, waiting: await this.waiting(webhook) };
  }

  /**
   * Attempts are found through their deliveries, so these are the newest attempts of the newest
   * deliveries: a late retry of an old delivery does not count.
   */
  private async newestAttempts(
    webhook: Pick<Webhook, 'id' | 'createdAt'>,
  ): Promise<AttemptOutcome[]> {
    const deliveries = await readUpTo(NEWEST, this.spansOf(webhook), (span, limit) =>
      this.database.query<{ id: string }>(attempted(span), [webhook.id, limit]),
    );
    const days = byDay(deliveries, ({ id }) => id);
    const rows: AttemptRow[] = [];
    for (const span of spansOf([...days.keys()], ATTEMPT_DAYS)) {
      const ids = [...days].flatMap(([day, of]) =>
        day >= span.first && day <= span.last ? of.map(({ id }) => id) : [],
      );
      rows.push(...(await this.database.query<AttemptRow>(attemptsOf(span), [ids, NEWEST])));
    }
    rows.sort((one, other) => other.at.getTime() - one.at.getTime());
    return rows.slice(0, NEWEST).map(outcomeOf);
  }

  private async waiting(
    webhook: Pick<Webhook, 'id' | 'createdAt'>,
  ): Promise<DeliveryStatistics['waiting']> {
    let [deliveries, since] = [0, undefined as Date | undefined];
    for await (const span of this.spansOf(webhook)) {
      const [row] = await this.database.query<{ deliveries: number; since: Date | null }>(
        waiting(span),
        [webhook.id],
      );
      deliveries += row?.deliveries ?? 0;
      since = row?.since ?? since;
    }
    return { deliveries, ...(since && { since }) };
  }

  private spansOf(webhook: Pick<Webhook, 'id' | 'createdAt'>): AsyncGenerator<Span> {
    const range = { ...daysListed({}), first: firstDayOf(webhook) };
    return newestFirst(this.database, 'deliveries', DELIVERY_DAYS, range);
  }
}

function outcomeOf({ status, error, duration_ms: durationMs }: AttemptRow): AttemptOutcome {
  return { durationMs, ...(status !== null && { status }), ...(error !== null && { error }) };
}
