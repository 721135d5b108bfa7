import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FEED_ALL } from '../../libs/webhooks/src/infrastructure/delivery-feeder.statements.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';

const SUBSCRIPTIONS = 6;
const DUE = 10;
const LEASE_MS = 30_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query('TRUNCATE webhooks, deliveries, events'));

async function anAccountWithBacklog(): Promise<string> {
  const account = await anAccount(database);
  for (let made = 0; made < SUBSCRIPTIONS; made += 1) {
    const webhook = await aSubscription(database, account);
    for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, webhook);
  }
  return account;
}

async function feed(shares: { subscription: number; account: number }, room = 1_000) {
  const values = [room, LEASE_MS, shares.subscription, shares.account];
  return database.query<{ id: string; webhook_id: string }>(FEED_ALL.text, values);
}

const finish = (ids: string[]) =>
  database.query(
    `UPDATE deliveries SET state = 'succeeded', completed_at = now(), claimed_until = NULL
     WHERE id = ANY ($1)`,
    [ids],
  );

it('brings in no more of an account than its share, what is in the window included', async () => {
  await anAccountWithBacklog();
  const shares = { subscription: 5, account: 8 };
  const fed = await feed(shares);
  expect(fed).toHaveLength(8);
  expect(await feed(shares)).toHaveLength(0);
  await finish(fed.slice(0, 3).map(({ id }) => id));
  expect(await feed(shares)).toHaveLength(3);
});

it('brings in no more of a subscription than its share, what is in the window included', async () => {
  await anAccountWithBacklog();
  const shares = { subscription: 5, account: 1_000 };
  const fed = await feed(shares);
  expect(fed).toHaveLength(5 * SUBSCRIPTIONS);
  expect(await feed(shares)).toHaveLength(0);
});

it('serves accounts in turn, first those with the least in the window', async () => {
  await anAccountWithBacklog();
  const shares = { subscription: 10, account: 1_000 };
  await feed(shares, 20);
  const other = await anAccountWithBacklog();
  const fed = await feed(shares, 20);
  const others = await database.query<{ id: string }>(
    'SELECT id FROM deliveries WHERE account_id = $1 AND claimed_until IS NOT NULL',
    [other],
  );
  expect(fed).toHaveLength(20);
  expect(others).toHaveLength(20);
});
