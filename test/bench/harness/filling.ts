import type { Database } from './database.js';
import type { Account } from './deployment.js';

/** Deliveries of one stored event. */
export const FAN_OUT = 10;
/** Partitions created per transaction: each takes a lock for itself and every index. */
const DAYS_AT_ONCE = 20;

/** The data that is stored before the measurements. */
export interface Filling {
  deliveries: number;
  state: 'succeeded' | 'pending';
  /** Daily partitions, today's included. */
  days?: number;
}

/** Three tenths belong to today, six tenths to the six days before; older days share the rest. */
const SPREAD = `CASE WHEN n % 10 < 3 OR $days = 1 THEN 0
  WHEN n % 10 < 9 OR $days <= 7 THEN 1 + n % least(6, $days - 1)
  ELSE 7 + n / 10 % ($days - 7) END`;
/** Of fifty deliveries one is exhausted, and one of the last two days stays pending for another ten days. */
const ONE_OF = 50;

/** Creates the partitions of the days before today. */
export async function makePartitions({ pool }: Database, days: number): Promise<void> {
  for (let first = 1; first < days; first += DAYS_AT_ONCE) {
    const last = Math.min(first + DAYS_AT_ONCE, days) - 1;
    await makeDays(pool, first, last);
  }
}

/** @param first days ago */
export async function makeDays(
  pool: Database['pool'],
  first: number,
  last: number = first,
): Promise<void> {
  await pool.query(`DO $$
    DECLARE parent text; midnight timestamptz;
    BEGIN
      FOREACH parent IN ARRAY ARRAY['events', 'deliveries', 'attempts'] LOOP
        FOR days IN ${String(first)}..${String(last)} LOOP
          midnight := date_trunc('day', now(), 'UTC') - days * interval '24 hours';
          EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)
            WITH (fillfactor = %s)',
            parent || '_' || to_char(midnight AT TIME ZONE 'UTC', 'YYYYMMDD'), parent,
            least_uuid(midnight), least_uuid(midnight + interval '24 hours'),
            CASE parent WHEN 'deliveries' THEN 70 ELSE 100 END);
        END LOOP;
      END LOOP;
    END $$`);
}

/**
 * Stores events, each with deliveries of one subscription, which have an attempt unless they are pending. With several
 * days, the first account has two fifths of them, and not all succeeded.
 */
export async function fill(
  { pool }: Database,
  accounts: readonly Account[],
  { deliveries, state, days = 1 }: Filling,
): Promise<void> {
  const webhooks = accounts.map(({ subscriptions: [path = ''] }) =>
    path.slice(path.lastIndexOf('/') + 1),
  );
  const place = `1 + CASE WHEN ${String(days)} > 1 AND n % 5 < 2 THEN 0 ELSE n / 5 % ${String(accounts.length)} END`;
  const of = (values: readonly string[]) => `('{${values.join(',')}}'::bigint[])[${place}]`;
  const midnight = `date_trunc('day', now(), 'UTC')`;
  const events = deliveries / FAN_OUT;
  // Oldest first, in their natural order.
  await pool.query('DROP TABLE IF EXISTS filling');
  await pool.query(
    `CREATE TABLE filling AS
     SELECT n, new_uuid(at, 0) AS id, ${of(accounts.map(({ id }) => id))} AS account_id,
       ${of(webhooks)} AS webhook_id, at, ago
     FROM (
       SELECT n, ago, ${midnight} - ago * interval '24 hours'
         + CASE ago WHEN 0 THEN now() - ${midnight} ELSE interval '24 hours' END * n / ${String(events + 1)}::float8 AS at
       FROM generate_series(1, ${String(events)}) n,
         LATERAL (SELECT ${SPREAD.replaceAll('$days', String(days))} AS ago) spread
     ) f ORDER BY at`,
  );
  await pool.query(
    `INSERT INTO events (id, account_id, event, resource, producer_id, occurred_at, created_at, data)
     SELECT id, account_id, 'cdrCreated', 'call', 'stored-' || n, at, at,
       '{"text":"' || repeat('x', 900) || '"}'
     FROM filling`,
  );
  await pool.query(
    `INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
     SELECT account_id, 'cdrCreated', 'stored-' || n, id, ${String(FAN_OUT)} FROM filling`,
  );
  const isSpread = String(days > 1);
  const turn = `(n / 10 + k) % ${String(ONE_OF)}`;
  await pool.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, attempts,
       state, next_attempt_at, created_at, completed_at, takes)
     SELECT new_uuid(at, k), id, webhook_id, account_id, 'cdrCreated', 1,
       CASE shown WHEN 'pending' THEN 0 ELSE 1 END, shown,
       CASE WHEN later THEN now() + interval '10 days' WHEN shown = 'pending' THEN at END, at,
       CASE shown WHEN 'pending' THEN NULL ELSE at END, CASE shown WHEN 'pending' THEN 0 ELSE 1 END
     FROM filling CROSS JOIN generate_series(1, ${String(FAN_OUT)}) k,
       LATERAL (SELECT ${isSpread} AND ago < 2 AND ${turn} = 1 AS later) l,
       LATERAL (SELECT CASE WHEN later THEN 'pending'
         WHEN ${isSpread} AND ${turn} = 0 THEN 'exhausted' ELSE '${state}' END AS shown) s`,
  );
  if (state === 'succeeded') {
    await pool.query(
      `INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, address,
         response_headers)
       SELECT id, 1, 1, created_at, 5, CASE state WHEN 'exhausted' THEN 500 ELSE 200 END, '192.0.2.1',
         '{"content-length":"0"}'
       FROM deliveries WHERE state <> 'pending'`,
    );
  }
  await pool.query('DROP TABLE filling');
}

/** Subscriptions of other accounts to the same event, modelled on one account's. */
export async function fillSubscriptions(
  { pool }: Database,
  like: Account,
  count: number,
): Promise<void> {
  if (count === 0) return;
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO users (username, role, status, salt)
     SELECT 'other-' || n, 'account', 'active', '' FROM generate_series(1, $1::integer) n RETURNING id`,
    [count / FAN_OUT],
  );
  await pool.query(
    `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
     SELECT u, w.event, w.resource, w.target_url, true, w.secret
     FROM unnest($1::bigint[]) u CROSS JOIN generate_series(1, $2::integer) n
     CROSS JOIN (SELECT * FROM webhooks WHERE account_id = $3) w`,
    [rows.map(({ id }) => id), FAN_OUT, like.id],
  );
}

export async function fillApplications(
  { pool }: Database,
  account: Account,
  count: number,
): Promise<void> {
  await pool.query(
    `INSERT INTO applications (user_id, name, api_type, messaging_url)
     SELECT $1, 'Application ' || n, 'webapi', 'https://example.com/' || n
     FROM generate_series(1, $2::integer) n`,
    [account.id, count],
  );
}
