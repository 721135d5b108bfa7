import type { TestDatabase } from './database.js';

const TABLES = ['events', 'deliveries', 'attempts'];

/** Creates the partitions of a day in the past. @returns YYYYMMDD */
export async function partitionsOf(database: TestDatabase, daysAgo: number): Promise<string> {
  const [row] = await database.query<{ day: string; from: string; to: string }>(
    `SELECT to_char(day, 'YYYYMMDD') AS day,
       least_uuid(day::timestamp AT TIME ZONE 'UTC') AS "from",
       least_uuid((day + 1)::timestamp AT TIME ZONE 'UTC') AS "to"
     FROM (SELECT (now() AT TIME ZONE 'UTC')::date - $1::integer AS day) d`,
    [daysAgo],
  );
  const { day, from, to } = row!;
  for (const table of TABLES) {
    await database.query(
      `CREATE TABLE ${table}_${day} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  }
  return day;
}

/** Options of {@link pastDeliveries}. */
export interface Past {
  daysAgo: number;
  count?: number;
  /** Columns of the deliveries, as SQL. */
  columns?: Record<string, string>;
  /** Whether they are tests. */
  test?: boolean;
}

/**
 * Inserts events of a subscription some days ago, each with a key, a delivery (by default `succeeded`) and an attempt.
 * @returns the deliveries' ids, oldest first
 */
export async function pastDeliveries(
  database: TestDatabase,
  webhookId: string,
  { daysAgo, count = 1, columns = {}, test = false }: Past,
): Promise<string[]> {
  const own = { state: `'succeeded'`, attempts: '1', ...columns };
  const rows = await database.query<{ id: string }>(
    `WITH made AS MATERIALIZED (
       SELECT n, at, w.*, new_uuid(at, 1) AS event_id, new_uuid(at, 2) AS delivery_id
       FROM webhooks w, generate_series(1, $3::integer) n,
         LATERAL (SELECT now() - $2::float8 * interval '24 hours' + n * interval '1 ms' AS at) t
       WHERE w.id = $1
     ),
     e AS (
       INSERT INTO events (id, account_id, event, resource, producer_id, test, occurred_at,
         created_at, data)
       SELECT event_id, account_id, event, 'call', 'past-' || event_id, $4, at, at,
         json_build_object('n', n) FROM made
     ),
     k AS (
       INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
       SELECT account_id, event, 'past-' || event_id, event_id, 1 FROM made
     ),
     a AS (
       INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status)
       SELECT delivery_id, 0, 1, at, 1, 200 FROM made
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, created_at,
       ${Object.keys(own).join(', ')})
     SELECT delivery_id, event_id, id, account_id, event, generation, at,
       ${Object.values(own).join(', ')}
     FROM made ORDER BY n RETURNING id`,
    [webhookId, daysAgo, count, test],
  );
  return rows.map(({ id }) => id);
}
