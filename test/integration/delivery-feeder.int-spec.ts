import { Client } from 'pg';
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

interface Shares {
  subscription: number;
  account: number;
  part?: number;
  narrowed?: Record<string, number>;
  failing?: number;
}

async function feed(shares: Shares, room = 1_000) {
  const { subscription, account, part = 1, narrowed = {}, failing = 1_000 } = shares;
  const few = [JSON.stringify(narrowed), subscription];
  const values = [room, LEASE_MS, subscription, account, part, ...few, failing];
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

it('serves the subscriptions of an account in turn, and leaves room for those with nothing in the window', async () => {
  const account = await anAccount(database);
  const [dead, other, healthy] = [
    await aSubscription(database, account),
    await aSubscription(database, account),
    await aSubscription(database, account),
  ];
  for (const webhook of [dead, other]) {
    for (let due = 0; due < 2 * DUE; due += 1) await aPendingDelivery(database, webhook);
  }
  const shares = { subscription: 16, account: 32, part: 1 / 4 };
  const ofWebhook = (rows: { webhook_id: string }[], id: string) =>
    rows.filter(({ webhook_id: webhook }) => webhook === id).length;
  const first = await feed(shares);
  expect([ofWebhook(first, dead), ofWebhook(first, other)]).toEqual([8, 8]);
  await aPendingDelivery(database, healthy);
  expect(await feed(shares)).toMatchObject([{ webhook_id: healthy }]);
});

it('brings in one of a subscription with nothing in the window, though its account has its share', async () => {
  const account = await anAccount(database);
  const [slow, healthy] = [
    await aSubscription(database, account),
    await aSubscription(database, account),
  ];
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, slow);
  const shares = { subscription: 5, account: 5 };
  expect(await feed(shares)).toHaveLength(5);
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, healthy);
  expect(await feed(shares)).toMatchObject([{ webhook_id: healthy }]);
});

it('brings in no more of a subscription than it has earned, and lets the rest wait', async () => {
  const webhook = await aSubscription(database, await anAccount(database));
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, webhook);
  const shares = { subscription: 50, account: 1_000, narrowed: { [webhook]: 2 } };
  expect(await feed(shares)).toHaveLength(2);
  expect(await feed(shares)).toHaveLength(0);
  expect(await database.query('SELECT backlog FROM webhooks')).toEqual([{ backlog: true }]);
});

it('lets wait what is accepted of a subscription of which not all has room, until all has', async () => {
  await anAccountWithBacklog();
  const shares = { subscription: 2 * DUE, account: 1_000 };
  const marked = () => database.query('SELECT FROM webhooks WHERE backlog');
  await feed(shares, 10);
  expect(await marked()).toHaveLength(SUBSCRIPTIONS);
  await feed(shares);
  expect(await marked()).toHaveLength(0);
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

it('brings in one delivery while a circuit is open and its time has come, and none before', async () => {
  const webhook = await aSubscription(database, await anAccount(database), {
    failing_since: new Date(),
    open_until: new Date(Date.now() + 60_000),
  });
  const oldest = await aPendingDelivery(database, webhook);
  for (let due = 1; due < DUE; due += 1) await aPendingDelivery(database, webhook);
  const shares = { subscription: 5, account: 1_000 };
  expect(await feed(shares)).toHaveLength(0);
  await database.query('UPDATE webhooks SET open_until = now()');
  expect(await feed(shares)).toMatchObject([{ id: oldest }]);
  expect(await feed(shares)).toHaveLength(0);
});

it('brings in more and more of a subscription whose circuit has closed', async () => {
  const webhook = await aSubscription(database, await anAccount(database), {
    closed_at: new Date(),
    backlog: true,
  });
  for (let due = 0; due < 3 * DUE; due += 1) await aPendingDelivery(database, webhook);
  const shares = { subscription: 20, account: 1_000 };
  const closedBefore = (seconds: number) =>
    database.query(`UPDATE webhooks SET closed_at = now() - make_interval(secs => $1)`, [seconds]);
  const inWindow: number[] = [];
  for (const seconds of [0.1, 2.1, 5.1, 61]) {
    await closedBefore(seconds);
    inWindow.push((inWindow.at(-1) ?? 0) + (await feed(shares)).length);
  }
  expect(inWindow).toEqual([1, 5, 11, 20]);
});

it('leaves slots to others, however many subscriptions fail', async () => {
  for (let made = 0; made < 8; made += 1) {
    const failing = await aSubscription(database, await anAccount(database), {
      failing_since: new Date(),
    });
    for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, failing);
  }
  const shares = { subscription: 5, account: 1_000, failing: 6 };
  expect(await feed(shares)).toHaveLength(6);
  expect(await feed(shares)).toHaveLength(0);
  const healthy = await aSubscription(database, await anAccount(database));
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, healthy);
  expect(await feed(shares)).toMatchObject(
    Array.from({ length: 5 }, () => ({ webhook_id: healthy })),
  );
});

it('waits for nobody who has locked a subscription', async () => {
  const webhook = await aSubscription(database, await anAccount(database));
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, webhook);
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('UPDATE webhooks SET version = version + 1');
    const fed = await feed({ subscription: 5, account: 1_000 });
    expect(fed).toHaveLength(5);
    await finish(fed.map(({ id }) => id));
    await other.query('ROLLBACK');
  } finally {
    await other.end();
  }
  await feed({ subscription: 5, account: 1_000 });
  expect(await database.query('SELECT backlog FROM webhooks')).toEqual([{ backlog: true }]);
});

it('counts against none what may not come in anyway', async () => {
  const account = await anAccount(database);
  const narrowed: Record<string, number> = {};
  for (let made = 0; made < 4; made += 1) {
    const slow = await aSubscription(database, account, { failing_since: new Date() });
    narrowed[slow] = 1;
    for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, slow);
  }
  const answering = await aSubscription(database, account, { failing_since: new Date() });
  for (let due = 0; due < DUE; due += 1) await aPendingDelivery(database, answering);
  const fed = await feed({ subscription: 5, account: 10, narrowed, failing: 10 });
  expect(fed.filter(({ webhook_id: webhook }) => webhook === answering)).toHaveLength(5);
});
