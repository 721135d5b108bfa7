import { Injectable } from '@nestjs/common';
import { Database } from '#libs/kernel';
import { type DeliveryStatistics, DeliveryStatisticsStore } from '../domain/delivery-statistics.js';

/**
 * Attempts are found through their deliveries, so these are the newest attempts of the newest
 * deliveries: a late retry of an old delivery does not count.
 */
const STATISTICS = {
  name: 'deliveries.statistics',
  text: `
WITH newest AS MATERIALIZED (
  SELECT id FROM deliveries WHERE webhook_id = $1 AND attempts > 0 ORDER BY id DESC LIMIT 1000
),
attempt AS MATERIALIZED (
  SELECT a.status, a.error, a.duration_ms
  FROM newest n JOIN attempts a ON a.delivery_id = n.id
  ORDER BY a.at DESC LIMIT 1000
),
by_outcome AS (
  SELECT coalesce(status / 100 || 'xx', error) AS outcome, count(*)::integer AS attempts
  FROM attempt GROUP BY 1
),
waiting AS (
  SELECT count(*)::integer AS deliveries, min(d.created_at) AS since
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.webhook_id = $1 AND d.state = 'pending' AND d.generation = w.generation
)
SELECT
  (SELECT count(*)::integer FROM attempt) AS attempts,
  (SELECT coalesce(json_object_agg(outcome, attempts ORDER BY outcome), '{}') FROM by_outcome)
    AS outcomes,
  (SELECT avg(coalesce(status BETWEEN 200 AND 299, false)::integer)::float8 FROM attempt)
    AS success_rate,
  (SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms)
   FROM attempt WHERE status IS NOT NULL) AS answer_ms,
  waiting.deliveries AS waiting, waiting.since AS waiting_since
FROM waiting`,
};

interface StatisticsRow {
  attempts: number;
  outcomes: Record<string, number>;
  success_rate: number | null;
  answer_ms: [number, number] | null;
  waiting: number;
  waiting_since: Date | null;
}

/** Statistics from the delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStatisticsStore extends DeliveryStatisticsStore {
  constructor(private readonly database: Database) {
    super();
  }

  async of(webhookId: string): Promise<DeliveryStatistics> {
    const [row] = await this.database.query<StatisticsRow>(STATISTICS, [webhookId]);
    if (!row) throw new Error('an aggregate has a row');
    const { attempts, outcomes, success_rate, answer_ms, waiting, waiting_since } = row;
    return {
      attempts,
      outcomes,
      ...(success_rate !== null && { successRate: success_rate }),
      ...(answer_ms !== null && { answerMs: { p50: answer_ms[0], p95: answer_ms[1] } }),
      waiting: { deliveries: waiting, ...(waiting_since !== null && { since: waiting_since }) },
    };
  }
}
