import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe } from 'vitest';
import { Database, Log, Metrics, readConfig, Tracing, TypeOrmTransactions } from '#libs/runtime';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../../test/support/rows.js';
import type { StoredState } from '../domain/delivery.js';
import { DeliveryQueue } from '../../queue/domain/delivery-queue.js';
import { deliveryStoreContract } from '../domain/delivery-store.contract.js';
import { PostgresDeliveryStore } from './postgres-delivery.store.js';

/** Leaves every delivery to PostgreSQL. */
class FullQueue extends DeliveryQueue {
  hasRoom(): boolean {
    return false;
  }
  add(): Promise<void> {
    return Promise.resolve();
  }
}

let database: TestDatabase;
let source: DataSource;
let deliveries: PostgresDeliveryStore;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  const transactions = new TypeOrmTransactions(source, statements);
  deliveries = new PostgresDeliveryStore(transactions, new FullQueue(), new Tracing(), config);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

async function anAccountWithSubscription(ofAccount?: string) {
  const accountId = ofAccount ?? (await anAccount(database));
  return { accountId, webhookId: await aSubscription(database, accountId) };
}

async function switchOff(webhookId: string): Promise<void> {
  await database.query(
    'UPDATE webhooks SET enabled = false, generation = generation + 1 WHERE id = $1',
    [webhookId],
  );
}

async function aDelivery(webhookId: string, state: StoredState): Promise<string> {
  const id = await aPendingDelivery(database, webhookId);
  if (state === 'pending') return id;
  await database.query(
    `UPDATE deliveries SET state = $2, next_attempt_at = NULL, completed_at = now() WHERE id = $1`,
    [id, state],
  );
  return id;
}

async function reported(deliveryId: string, producerId: string, data: string): Promise<void> {
  await database.query(
    `WITH e AS (
       UPDATE events SET producer_id = $2, data = $3
       WHERE id = (SELECT event_id FROM deliveries WHERE id = $1) RETURNING *
     )
     INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
     SELECT account_id, event, producer_id, id, 1 FROM e`,
    [deliveryId, producerId, data],
  );
}

async function attempted(deliveryId: string, statuses: number[]): Promise<void> {
  await database.query(
    `WITH made AS (
       INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status)
       SELECT $1, number, number, now(), 1, status
       FROM unnest($2::integer[]) WITH ORDINALITY AS s(status, number)
     )
     UPDATE deliveries SET attempts = $3 WHERE id = $1`,
    [deliveryId, statuses, statuses.length],
  );
}

describe('the log of deliveries in PostgreSQL', () =>
  deliveryStoreContract({
    store: () => deliveries,
    aSubscription: anAccountWithSubscription,
    switchOff,
    aDelivery,
    attempted,
    reported,
  }));
