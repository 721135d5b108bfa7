import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayAt } from '../../partitions/partition-days.js';
import { FIND_FILTERS } from './accept-events.statements.js';
import { listEvents } from './event.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { rowsIn, type Step } from '../../../../../test/support/plans.js';
import { anAccount, anApplication } from '../../../../../test/support/rows.js';

const OTHERS = 20_000;
const OWN = 20;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function addEvents(accountId: string, count: number): Promise<void> {
  await client.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data, unmatched)
     SELECT new_uuid(now(), n), $1, 'cdrCreated', 'call', now(), now(), '{}', n % 2 = 0
     FROM generate_series(1, $2) n`,
    [accountId, count],
  );
}

interface Preview {
  resources: string;
}

/** How many events a list of the newest ones of an account reads. */
async function eventsRead(accountId: string, unmatched?: true, preview?: Preview): Promise<number> {
  const today = dayAt(new Date());
  const span = { first: today, last: today };
  const { text, valuesOf } = listEvents(span, {
    ...{ isOwned: true, byIndex: unmatched === true },
    ...(preview && { covered: true, data: true }),
  });
  const given = { event: undefined, resource: undefined, applicationId: undefined, ids: undefined };
  const times = { since: undefined, until: undefined, after: undefined };
  const values = valuesOf({ accountId, limit: 100, unmatched, ...given, ...times, ...preview });
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  return rowsIn(rows[0]!['QUERY PLAN'][0]!.Plan, /^events/);
}

it('lists the newest events of an account without reading those of others', async () => {
  const [few, none] = [await anAccount(database), await anAccount(database)];
  await addEvents(await anAccount(database), OTHERS);
  await addEvents(few, OWN);
  await client.query('ANALYZE');
  expect([await eventsRead(few), await eventsRead(none)]).toEqual([OWN, 0]);
  expect([await eventsRead(few, true), await eventsRead(none, true)]).toEqual([OWN / 2, 0]);
  const preview = { resources: 'call,sms' };
  expect([
    await eventsRead(few, undefined, preview),
    await eventsRead(none, undefined, preview),
  ]).toEqual([OWN, 0]);
});

it('lists the events of an account without reading newer events of others', async () => {
  const most = await anAccount(database);
  await addEvents(most, 4 * OTHERS);
  await addEvents(await anAccount(database), OTHERS);
  await client.query('ANALYZE');
  expect(await eventsRead(most)).toBe(100);
});

it('finds the filters that an event meets without reading the subscriptions of others', async () => {
  const [own, application] = await accountWithFilters(10);
  for (let others = 0; others < 20; others += 1) await accountWithFilters(100);
  await client.query('ANALYZE webhooks');
  const { text, valuesOf } = FIND_FILTERS;
  const values = valuesOf({
    ...{ accountIds: [own], applicationIds: [application] },
    ...{ events: ['cdrCreated'], resources: ['call'] },
  });
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  expect(rowsIn(rows[0]!['QUERY PLAN'][0]!.Plan, /^webhooks/)).toBe(20);
});

/** An account and its application, each with subscriptions that have filters. */
async function accountWithFilters(count: number): Promise<[account: string, application: string]> {
  const account = await anAccount(database);
  const application = await anApplication(database, account);
  for (const of of [null, application]) {
    await client.query(
      `INSERT INTO webhooks (account_id, application_id, event, resource, target_url, enabled, secret, filter, filter_id)
       SELECT $1, $2, 'cdrCreated', 'all', 'http://t.example/', true, '', '{"n":' || n || '}', n::text
       FROM generate_series(1, $3::integer) n`,
      [account, of, count],
    );
  }
  return [account, application];
}
