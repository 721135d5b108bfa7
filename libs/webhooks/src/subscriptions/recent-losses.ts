import { Injectable } from '@nestjs/common';
import { statement, TypeOrmTransactions } from '#libs/runtime';
import type { RecentLosses, Webhook } from './domain/webhook.js';

/** The rows of a day; the first of them may have begun before it. */
const IN_LAST_DAY = `at >= now() - interval '24 hours 5 minutes' AND last_at >= now() - interval '24 hours'`;

/** Reads one range of rows of each subscription, at most one for every five minutes of a day. */
export const READ_LOSSES = statement<{ ids: readonly string[] }, RecentLosses & { id: string }>(`
SELECT w.id, l.* FROM unnest(@ids::bigint[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT sum(count)::float8 AS lost, max(last_at) AS "lastLostAt"
  FROM webhook_losses WHERE webhook_id = w.id AND ${IN_LAST_DAY}
) l
WHERE l.lost > 0`);

/** A subscription that has lost notifications in the last 24 hours. */
interface LosingSubscription extends RecentLosses {
  webhookId: string;
  accountId: string;
  targetUrl: string;
}

/** The enabled subscriptions that have lost the most notifications in the last 24 hours. */
export const LIST_LOSING = statement<{ limit: number }, LosingSubscription>(`
SELECT w.id AS "webhookId", w.account_id AS "accountId", w.target_url AS "targetUrl", l.lost, l."lastLostAt"
FROM (
  SELECT webhook_id, sum(count)::float8 AS lost, max(last_at) AS "lastLostAt"
  FROM webhook_losses WHERE ${IN_LAST_DAY}
  GROUP BY webhook_id
) l
JOIN webhooks w ON w.id = l.webhook_id AND w.enabled AND w.deleted_at IS NULL
ORDER BY l.lost DESC, w.id LIMIT @limit`);

/** Reads which subscriptions have lost notifications in the last 24 hours. */
@Injectable()
export class RecentLossesReader {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  /** Adds to each subscription what it has lost, for its health. */
  async addTo(webhooks: Webhook[]): Promise<Webhook[]> {
    if (webhooks.length === 0) return webhooks;
    const ids = webhooks.map(({ id }) => id);
    const rows = await this.transactions.query(READ_LOSSES, { ids });
    const losses = new Map(rows.map(({ id, ...lost }) => [id, lost]));
    for (const webhook of webhooks) webhook.losses = losses.get(webhook.id);
    return webhooks;
  }
}
