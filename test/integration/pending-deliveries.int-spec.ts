import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database, Metrics, readConfig } from '#libs/kernel';
import type {
  Conclusion,
  TakenDelivery,
} from '../../libs/webhooks/src/domain/pending-deliveries.js';
import { FEED_ALL } from '../../libs/webhooks/src/infrastructure/delivery-feeder.statements.js';
import { REDELIVER } from '../../libs/webhooks/src/infrastructure/delivery.statements.js';
import { PostgresPendingDeliveries } from '../../libs/webhooks/src/infrastructure/postgres-pending-deliveries.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';

const LEASE_MS = 30_000;
const FAILED: Conclusion = { state: 'pending', delayMs: 60_000 };
const SUCCEEDED: Conclusion = { state: 'succeeded' };

let database: TestDatabase;
let source: DataSource;
let pending: PostgresPendingDeliveries;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url });
  pending = new PostgresPendingDeliveries(new Database(source, new Metrics(), config), config);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, events, attempts');
  id = await aPendingDelivery(database, await aSubscription(database, await anAccount(database)));
});

/** Feeds the delivery, and has a worker take it. */
async function taken(attempt = 1): Promise<TakenDelivery> {
  expect(await database.query(FEED_ALL.text, [10, LEASE_MS, 10, 10, 1, [], [], 10])).toHaveLength(
    1,
  );
  const delivery = await pending.take({ id, attempt });
  if (!delivery) throw new Error('it was not there to take');
  return delivery;
}

/** Two workers that both believe they have the delivery: the claim of the first has ended. */
async function takenTwice(): Promise<[stopped: TakenDelivery, present: TakenDelivery]> {
  const stopped = await taken();
  await database.query(`UPDATE deliveries SET claimed_until = now() - interval '1 s'`);
  return [stopped, await taken()];
}

async function record(delivery: TakenDelivery, conclusion: Conclusion): Promise<void> {
  const attempt = { number: delivery.attempt, at: delivery.takenAt, durationMs: 5 };
  await pending.record({
    id,
    take: delivery.take,
    attempt: { ...attempt, truncated: false },
    conclusion,
  });
}

async function row() {
  const [found] = await database.query<{ state: string; attempts: number; taken: boolean }>(
    'SELECT state, attempts, taken FROM deliveries',
  );
  return found;
}

const logged = async () => (await database.query('SELECT FROM attempts')).length;

it('gives one delivery to one worker, however many jobs it has', async () => {
  await taken();
  expect(await pending.take({ id, attempt: 1 })).toBeUndefined();
});

it('logs the late failure of a worker that was given up, and changes nothing', async () => {
  const [stopped, present] = await takenTwice();
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'pending', attempts: 0, taken: true });
  await record(present, SUCCEEDED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
  expect(await logged()).toBe(2);
});

it('lets no late failure undo a success', async () => {
  const [stopped, present] = await takenTwice();
  await record(present, SUCCEEDED);
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it('takes the late success of a worker that was given up for what it is', async () => {
  const [stopped, present] = await takenTwice();
  await record(stopped, SUCCEEDED);
  await record(present, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it('takes a late success also after a newer failure', async () => {
  const [stopped, present] = await takenTwice();
  await record(present, FAILED);
  await record(stopped, SUCCEEDED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it('lets a success of an earlier schedule end no redelivery', async () => {
  const delivery = await taken();
  await record(delivery, SUCCEEDED);
  await database.query(REDELIVER.text, [id, false, LEASE_MS]);
  await record(delivery, SUCCEEDED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, taken: false });
});

it('leaves to its present worker what one that was given up hands back', async () => {
  const [stopped] = await takenTwice();
  await pending.release(stopped, 'held');
  expect(await row()).toEqual({ state: 'pending', attempts: 0, taken: true });
});

it('records an outcome once, though it is told twice', async () => {
  const delivery = await taken();
  await record(delivery, FAILED);
  await record(delivery, FAILED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, taken: false });
  expect(await logged()).toBe(1);
});
