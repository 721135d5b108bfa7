import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Statement } from '#libs/runtime';
import { dayAt } from '../partitions/partition-days.js';
import { countWaitingByAccount, SUM_LOADS } from './overview.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { asRole } from '../../../../test/support/environment.js';
import { rowsIn, type Step } from '../../../../test/support/plans.js';

const ACCOUNTS = 20_000;
const HOURS = 10;
const BACKLOG = 15_000;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: asRole(database.url, 'api') });
  await client.connect();
  await database.query(
    `INSERT INTO account_loads (at, account_id, reported, delivered, failed, busy_ms)
     SELECT date_trunc('hour', now()) - h * interval '1 hour', a, 1, 2, 3, 4
     FROM generate_series(1, $1::integer) a, generate_series(0, $2::integer - 1) h`,
    [ACCOUNTS, HOURS],
  );
  await database.query(
    `WITH u AS (
       INSERT INTO users (id, username, role, status, salt)
       SELECT a, 'account-' || a, 'account', 'active', '' FROM generate_series(1, $1::integer) a
       RETURNING id
     ),
     w AS (
       INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
       SELECT id, 'cdrCreated', 'all', 'http://127.0.0.1:1024/', true, 'whsec_' FROM u
       RETURNING id, account_id
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at, created_at)
     SELECT new_uuid(now(), 1), new_uuid(now(), 2), w.id, w.account_id, 'cdrCreated', 1, now(), now()
     FROM w, generate_series(1, CASE WHEN w.account_id = 1 THEN $2::integer ELSE 1 END)`,
    [ACCOUNTS, BACKLOG],
  );
}, 120_000);
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The rows that a statement returns, and how many it reads of some tables. */
async function reading<Values extends object, Row extends object>(
  { text, valuesOf }: Statement<Values, Row>,
  values: Values,
  tables: RegExp,
): Promise<{ rows: Row[]; read: number }> {
  const given = valuesOf(...([values] as unknown as Parameters<typeof valuesOf>));
  const explained = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    given,
  );
  const { rows } = await client.query<Row & pg.QueryResultRow>(text, given);
  return { rows, read: rowsIn(explained.rows[0]!['QUERY PLAN'][0]!.Plan, tables) };
}

it.each(['before', 'after'])(
  'sums up the hours of a range alone, %s statistics were gathered',
  async (when) => {
    if (when === 'after') await database.query('ANALYZE account_loads');
    const now = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const since = new Date(now - 3_600_000).toISOString();
    const until = new Date(now + 3_600_000).toISOString();
    const { rows, read } = await reading(SUM_LOADS, { since, until }, /^account_loads/);
    expect(rows).toHaveLength(ACCOUNTS);
    expect(rows[0]).toMatchObject({ reported: 2, delivered: 4, failed: 6, busyMs: 8 });
    expect(read).toBe(2 * ACCOUNTS);
  },
);

it.each(['before', 'after'])(
  'counts the waiting deliveries of each account, up to 10,000 of a subscription, %s statistics were gathered',
  async (when) => {
    if (when === 'after') await database.query('ANALYZE webhooks, deliveries');
    const statement = countWaitingByAccount(dayAt(new Date()));
    const { rows, read } = await reading(statement, {}, /^(deliveries|webhooks)/);
    expect(rows).toHaveLength(ACCOUNTS);
    const waiting = new Map(rows.map((row) => [row.accountId, row.waiting]));
    expect([waiting.get('1'), waiting.get('2')]).toEqual([10_000, 1]);
    expect(read).toBeLessThan(4 * ACCOUNTS + 2 * 10_000);
  },
);
