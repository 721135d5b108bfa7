import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { executing, rowsIn, type Step, type Value } from '../../../../../test/support/plans.js';
import { anAccount, anApplication, aSubscription } from '../../../../../test/support/rows.js';
import { ACCEPT_EVENTS, ACCEPT_FILTERED_EVENTS } from './accept-events.statements.js';

const OTHERS = 20_000;

let database: TestDatabase;
let client: pg.Client;
let events: Parameters<typeof ACCEPT_EVENTS.valuesOf>[0];

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // As the API's role has it.
  await client.query('SET enable_seqscan = off; SET enable_sort = off');
  const account = await anAccount(database);
  const application = await anApplication(database, account);
  await aSubscription(database, account);
  await aSubscription(database, account, { application_id: application });
  // An event of the account, and one of its application, each with a subscription.
  events = {
    ...{ events: ['cdrCreated', 'cdrCreated'], resources: ['call', 'call'] },
    ...{ accountIds: [account, undefined], applicationIds: [undefined, application] },
    ...{ producerIds: ['a', 'b'], occurredAt: [undefined, undefined], data: ['{}', '{}'] },
    ...{ traceparents: undefined, hasRoom: true, timeoutMs: 15_000 },
  };
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

const STATEMENTS = {
  'events.accept': () => [ACCEPT_EVENTS.text, ACCEPT_EVENTS.valuesOf(events)] as const,
  'events.accept-filtered': () => {
    const filtered = { ...events, starts: [1, 2], verdicts: [undefined, undefined] };
    return [ACCEPT_FILTERED_EVENTS.text, ACCEPT_FILTERED_EVENTS.valuesOf(filtered)] as const;
  },
};

it.each(Object.entries(STATEMENTS))(
  '%s has one plan, which was made in an empty database, and reads no rows of others',
  async (_, of) => {
    const [text, values] = of();
    const run = executing(values as Value[]);
    await client.query(`PREPARE statement AS ${text}`);
    for (let times = 0; times < 10; times += 1) await client.query(`BEGIN; ${run}; ROLLBACK`);
    // PostgreSQL makes five plans for the values at hand before it considers one for all values.
    const { rows } = await client.query('SELECT custom_plans::integer FROM pg_prepared_statements');
    expect(rows).toEqual([{ custom_plans: 5 }]);
    await database.query(
      `INSERT INTO users (username, role, status, salt)
     SELECT 'other-' || n, 'account', 'active', '' FROM generate_series(1, $1::integer) n`,
      [OTHERS],
    );
    await database.query(
      `INSERT INTO applications (user_id, name, api_type, voice_url, environment_id)
     SELECT id, 'app', 'scripting', 'http://example.com/', 1 FROM users`,
    );
    await database.query(
      `INSERT INTO webhooks (account_id, application_id, event, resource, target_url, enabled, secret)
     SELECT user_id, application_id, 'cdrCreated', 'all', 'http://t.example/', true, ''
     FROM (SELECT user_id, id FROM applications UNION ALL SELECT id, NULL FROM users) of (user_id, application_id)
     WHERE user_id NOT IN (SELECT account_id FROM webhooks)`,
    );
    await client.query('BEGIN');
    const { rows: plans } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${run}`,
    );
    await client.query('ROLLBACK');
    const plan = plans[0]!['QUERY PLAN'][0]!.Plan;
    // The account, the application, and the subscriptions: the account's for both events, the application's for one.
    expect(rowsIn(plan, /^(users|applications|webhooks)$/)).toBe(5);
  },
);
