import type { INestApplicationContext } from '@nestjs/common';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contextOf } from '../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { rowsIn, type Step } from '../../../../test/support/plans.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { anAccount, aPendingDelivery, aSubscription } from '../../../../test/support/rows.js';
import { Webhook } from './domain/webhook.js';
import { READ_LOSSES, RecentLossesReader } from './recent-losses.js';
import { READ_ACTIVITY, RecentActivityReader } from './recent-activity.js';
import { SubscriptionsModule } from './subscriptions.module.js';

const OTHERS = 20_000;
const COUNTS = 50;
const NONE = { succeeded: 0, failed: 0 };

let database: TestDatabase;
let context: INestApplicationContext;
let client: pg.Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [SubscriptionsModule]);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  accountId = await anAccount(database);
});
afterAll(async () => {
  await client.end();
  await context.close();
  await database.drop();
});

/** Counts attempts of a subscription that began so many hours ago. */
async function counted(webhookId: string, outcome: string, count: number, hoursAgo = 1) {
  await client.query(
    `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
     VALUES ($1, $2, now() - make_interval(hours => $3), $4, 7, $5)`,
    [accountId, webhookId, hoursAgo, outcome, count],
  );
}

it('counts the attempts of a day, and finds the newest delivery of a week', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await aSubscription(database, accountId));
  const [busy, quiet, recent, stale] = ids as [string, string, string, string];
  await counted(busy, '2xx', 40);
  await counted(busy, '2xx', 2, 23);
  await counted(busy, '5xx', 3);
  await counted(busy, 'timeout', 1);
  await counted(busy, '2xx', 100, 25);
  const started = new Date();
  await aPendingDelivery(database, busy);
  for (const [webhookId, daysAgo] of [
    [recent, 6],
    [stale, 8],
  ] as const) {
    await partitionsOf(database, daysAgo);
    await pastDeliveries(database, webhookId, { daysAgo });
  }
  const found = await context.get(RecentActivityReader).of(accountId, ids);
  expect(found.get(busy)).toMatchObject({ succeeded: 42, failed: 4 });
  expect(found.get(busy)!.lastDeliveryAt!.getTime()).toBeGreaterThanOrEqual(
    started.getTime() - 1_000,
  );
  expect(found.get(quiet)).toEqual(NONE);
  expect(found.get(recent)).toEqual({ ...NONE, lastDeliveryAt: expect.any(Date) as Date });
  expect(found.get(stale)).toEqual(NONE);
});

it("reads one delivery of each subscription, and nothing of the account's others", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 10; n += 1) ids.push(await aSubscription(database, accountId));
  const noisy = await aSubscription(database, accountId);
  await client.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, created_at)
     SELECT new_uuid(now(), n), new_uuid(now(), 1), CASE WHEN n > 200 THEN $2 ELSE ($1::bigint[])[1 + n % 10] END, $3,
       'cdrCreated', 1, now()
     FROM generate_series(1, $4::integer) n`,
    [ids, noisy, accountId, OTHERS],
  );
  await client.query(
    `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
     SELECT $1, w, now() - interval '5 minutes' * (n % 280), '2xx', n / 280, 1
     FROM unnest($2::bigint[] || $3::bigint) w,
       generate_series(1, CASE WHEN w = $3 THEN $4 ELSE $5 END::integer) n`,
    [accountId, ids, noisy, OTHERS, COUNTS],
  );
  await client.query('ANALYZE');
  const now = Date.now();
  const { text, valuesOf } = READ_ACTIVITY;
  const values = valuesOf({
    accountId,
    ids,
    since: new Date(now - 86_400_000).toISOString(),
    least: idAt(now - 7 * 86_400_000),
    greatest: idAt(now + 86_400_000),
  });
  const plan = await planOf(text, values);
  expect(rowsIn(plan, /^deliveries/)).toBe(ids.length);
  expect(rowsIn(plan, /^attempt_counts/)).toBe(ids.length * COUNTS);
});

it('counts the losses of 24 hours, with the last success ever', async () => {
  const [losing, well] = [
    await aSubscription(database, accountId),
    await aSubscription(database, accountId),
  ];
  await client.query(
    `INSERT INTO webhook_losses (webhook_id, at, count, last_at)
     SELECT $1, now() - ago - interval '2 minutes', 2, now() - ago
     FROM unnest(ARRAY['1 minute', '23:59', '24:01']::interval[]) ago`,
    [losing],
  );
  await client.query(`INSERT INTO webhook_successes VALUES ($1, '2026-01-01')`, [losing]);
  const webhooks = [losing, well].map((id) => Object.assign(new Webhook(), { id }));
  await context.get(RecentLossesReader).addTo(webhooks);
  expect(webhooks[0]!.losses).toMatchObject({ lost: 4 });
  expect(webhooks[1]!.losses).toBeUndefined();
  const found = await context.get(RecentActivityReader).of(accountId, [losing, well]);
  expect(found.get(losing)).toMatchObject({ lastSuccessAt: new Date('2026-01-01') });
  expect(found.get(well)).toEqual(NONE);
});

it('reads the losses of 500 subscriptions, and of no others', async () => {
  const least = 1_000_000;
  await client.query(
    `INSERT INTO webhook_losses (webhook_id, at, count, last_at)
     SELECT $1::integer + n % 1000, now() - interval '5 minutes' * (n / 1000), 1, now()
     FROM generate_series(0, 19999) n`,
    [least],
  );
  await client.query('ANALYZE webhook_losses');
  const ids = Array.from({ length: 500 }, (_, n) => String(least + n));
  const { text, valuesOf } = READ_LOSSES;
  expect(rowsIn(await planOf(text, valuesOf({ ids })), /^webhook_losses/)).toBe(500 * 20);
});

async function planOf(text: string, values: unknown[]): Promise<Step> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  return rows[0]!['QUERY PLAN'][0]!.Plan;
}

const idAt = (ms: number): string =>
  `${ms
    .toString(16)
    .padStart(12, '0')
    .replace(/(.{8})/, '$1-')}-0000-0000-000000000000`;
