import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Given, Run, Statement } from '#libs/runtime';
import { cancelOutdated, NEXT_CANCELLING } from '../sending/infrastructure/delivery-canceller.js';
import { dayAt } from '../partitions/partition-days.js';
import { ReplayLook } from '../replays/infrastructure/replay-look.js';
import { continueReplay } from '../replays/infrastructure/replay-batch.statements.js';
import { FORGET_REPLAYS } from '../retention/retention.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { asRole } from '../../../../test/support/environment.js';
import { aSubscription, anAccount } from '../../../../test/support/rows.js';
import { rowsIn, type Step } from '../../../../test/support/plans.js';

const SUBSCRIPTIONS = 20_000;
const REPLAYS = 10;
/** What a look at one account may read: 200 subscriptions with what they need, and 1,000 parts of ended replays. */
const MOST_READ = 3_000;

let database: TestDatabase;
let client: pg.Client;
let read: number;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: asRole(database.url, 'worker') });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, replays, replay_parts');
  read = 0;
});

/** Runs statements and counts the rows that they read. */
const run: Run = async <Values extends object, Row extends object>(
  { text, valuesOf }: Statement<Values, Row>,
  ...given: Given<Values>
) => {
  const values = valuesOf(...given);
  await client.query('BEGIN');
  const { rows: plans } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  await client.query('ROLLBACK');
  read += rowsIn(plans[0]!['QUERY PLAN'][0]!.Plan, /^(replays|replay_parts|webhooks|deliveries)/);
  return (await client.query<Row & pg.QueryResultRow>(text, values)).rows;
};

async function rowsReadBy(look: ReplayLook): Promise<number> {
  read = 0;
  await look.next();
  return read;
}

async function manySubscriptions(accountId: string, columns: string): Promise<void> {
  await database.query(
    `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret, paused)
     SELECT $1, 'cdrCreated', 'all', 'http://127.0.0.1:1024/', true, 'whsec_', ${columns}
     FROM generate_series(1, $2::integer)`,
    [accountId, SUBSCRIPTIONS],
  );
}

/** Replays of an account, each with a part for each of its subscriptions. */
async function replaysOfAccount(accountId: string, count = REPLAYS, state = 'running') {
  await database.query(
    `WITH r AS (
       INSERT INTO replays (id, account_id, since, until, states, total, parts, state)
       SELECT new_uuid(clock_timestamp(), n), $1, now(), now(), '{exhausted}', 0, w.count, $3
       FROM generate_series(1, $2::integer) n, (SELECT count(*) FROM webhooks WHERE account_id = $1) w RETURNING id
     )
     INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
     SELECT r.id, $1, w.id, 1, new_uuid(now(), 0) FROM r, webhooks w WHERE w.account_id = $1`,
    [accountId, count, state],
  );
}

it('reads a few parts of 200,000 that wait, and none of those behind them', async () => {
  const account = await anAccount(database);
  await manySubscriptions(account, 'true');
  await replaysOfAccount(account);
  const other = await anAccount(database);
  const theirs = await aSubscription(database, other);
  await replaysOfAccount(other, 1);
  for (const analyze of [false, true]) {
    if (analyze) await database.query('ANALYZE replays, replay_parts, webhooks');
    const look = new ReplayLook(run);
    expect((await look.next()).map(({ webhookId }) => webhookId)).toEqual([theirs]);
    for (let times = 0; times < 3; times += 1) {
      expect(await rowsReadBy(look)).toBeLessThan(MOST_READ);
    }
  }
});

it('reads a few of 200,000 replays of single subscriptions that wait', async () => {
  const account = await anAccount(database);
  await manySubscriptions(account, 'true');
  await database.query(
    `WITH r AS (
       INSERT INTO replays (id, account_id, webhook_id, since, until, states, total)
       SELECT new_uuid(clock_timestamp(), n), $1, w.id, now(), now(), '{exhausted}', 0
       FROM webhooks w, generate_series(1, $2::integer) n RETURNING id, webhook_id
     )
     INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
     SELECT id, $1, webhook_id, 1, new_uuid(now(), 0) FROM r`,
    [account, REPLAYS],
  );
  await database.query('ANALYZE replays, replay_parts, webhooks');
  const look = new ReplayLook(run);
  for (let times = 0; times < 3; times += 1) {
    expect(await rowsReadBy(look)).toBeLessThan(MOST_READ);
  }
});

it('reads none of the replays that have ended, and removes their parts step by step', async () => {
  const account = await anAccount(database);
  await manySubscriptions(account, 'true');
  await replaysOfAccount(account, 1, 'cancelled');
  await database.query('ANALYZE replays, replay_parts, webhooks');
  const look = new ReplayLook(run);
  expect(await rowsReadBy(look)).toBeLessThan(MOST_READ);
  const left = async () => {
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM replay_parts',
    );
    return row!.count;
  };
  expect(await left()).toBe(SUBSCRIPTIONS - 1_000);
});

it('finds the only subscription that can continue behind many that cannot', async () => {
  const account = await anAccount(database);
  await manySubscriptions(account, 'true');
  const last = await aSubscription(database, account);
  await database.query(
    `DELETE FROM webhooks WHERE id IN (SELECT id FROM webhooks WHERE id <> $1 ORDER BY id DESC OFFSET 500)`,
    [last],
  );
  await replaysOfAccount(account, 2);
  const look = new ReplayLook(run);
  const found: string[][] = [];
  for (let times = 0; times < 6; times += 1) {
    found.push((await look.next()).map(({ webhookId }) => webhookId));
  }
  expect(found).toEqual([[], [], [last], [], [], [last]]);
});

it('ends parts whose subscriptions are off, and completes the replay with the last one', async () => {
  const account = await anAccount(database);
  const [first, second] = [
    await aSubscription(database, account),
    await aSubscription(database, account),
  ];
  await replaysOfAccount(account, 1);
  await database.query('UPDATE webhooks SET enabled = false WHERE id = $1', [first]);
  const look = new ReplayLook(run);
  expect(await look.next()).toMatchObject([{ webhookId: second }]);
  expect(await database.query('SELECT webhook_id FROM replay_parts')).toEqual([
    { webhook_id: second },
  ]);
  expect(await database.query('SELECT state FROM replays')).toEqual([{ state: 'running' }]);
  await database.query('UPDATE webhooks SET enabled = false WHERE id = $1', [second]);
  expect(await look.next()).toEqual([]);
  expect(await database.query('SELECT state FROM replays')).toEqual([{ state: 'completed' }]);
});

it('completes a replay with the last batch of its last part', async () => {
  const account = await anAccount(database);
  for (let n = 0; n < 2; n += 1) await aSubscription(database, account);
  await replaysOfAccount(account, 1);
  const look = new ReplayLook(run);
  const today = dayAt(new Date());
  const states = [];
  for (const { id, webhookId, after } of await look.next()) {
    const batch = { webhookId, after, to: after, isEnd: true, deliveryIds: [] };
    await run(continueReplay({ first: today, last: today }), { id, ...batch });
    states.push(...(await database.query('SELECT state FROM replays')));
  }
  expect(states).toEqual([{ state: 'running' }, { state: 'completed' }]);
  expect(await look.next()).toEqual([]);
});

it('forgets replays of which none is old enough without reading those that have ended', async () => {
  const account = await anAccount(database);
  await database.query(
    `INSERT INTO replays (id, account_id, webhook_id, since, until, states, state, completed_at, total)
     SELECT new_uuid(clock_timestamp(), n), $1, 1, now(), now(), '{exhausted}', 'completed', now(), 0
     FROM generate_series(1, $2::integer) n`,
    [account, SUBSCRIPTIONS],
  );
  await database.query('ANALYZE replays');
  await run(FORGET_REPLAYS, { limit: 1_000 });
  expect(read).toBe(0);
});

it('looks for outdated deliveries of a few subscriptions, however many were disabled', async () => {
  await manySubscriptions(await anAccount(database), 'false');
  await database.query('UPDATE webhooks SET enabled = false, generation = 2, cancelling = true');
  await database.query('ANALYZE webhooks');
  const off = await run(NEXT_CANCELLING, { after: '0' });
  expect(off).toHaveLength(200);
  const today = dayAt(new Date());
  const webhookIds = off.map(({ id }) => id);
  await run(cancelOutdated({ first: today, last: today }), { webhookIds, limit: 1_000 });
  expect(read).toBeLessThan(MOST_READ);
  const [next] = await run(NEXT_CANCELLING, { after: webhookIds.at(-1)! });
  expect(Number(next!.id)).toBe(Number(webhookIds.at(-1)) + 1);
});
