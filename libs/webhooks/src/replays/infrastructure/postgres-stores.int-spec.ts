import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe } from 'vitest';
import { Database, Log, Metrics, readConfig, Tracing, TypeOrmTransactions } from '#libs/runtime';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import {
  aPendingDelivery,
  aSubscription,
  anAccount,
  anApplication,
} from '../../../../../test/support/rows.js';
import type { StoredState } from '../../deliveries/domain/delivery.js';
import { DeliveryQueue } from '../../queue/domain/delivery-queue.js';
import { deliveryStoreContract } from '../../deliveries/domain/delivery-store.contract.js';
import { replayStoreContract } from '../domain/replay-store.contract.js';
import { PostgresDeliveryStore } from '../../deliveries/infrastructure/postgres-delivery.store.js';
import { PostgresReplayStore } from './postgres-replay.store.js';

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
let replays: PostgresReplayStore;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  const transactions = new TypeOrmTransactions(source, statements);
  deliveries = new PostgresDeliveryStore(transactions, new FullQueue(), new Tracing(), config);
  replays = new PostgresReplayStore(transactions);
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

describe('replays in PostgreSQL', () =>
  replayStoreContract({
    store: () => replays,
    aSubscription: anAccountWithSubscription,
    anApplication: (accountId) => anApplication(database, accountId),
    switchOff,
    pause: async (id) => {
      await database.query('UPDATE webhooks SET paused = true WHERE id = $1', [id]);
    },
    deliver: async (webhookId, state, { applicationId, statuses = [], event } = {}) => {
      const id = await aDelivery(webhookId, state);
      await attempted(id, statuses);
      await database.query(
        `WITH d AS (
           UPDATE deliveries SET event = coalesce($2, event) WHERE id = $1 RETURNING event_id
         )
         UPDATE events SET application_id = $3 WHERE id = (SELECT event_id FROM d)`,
        [id, event ?? null, applicationId ?? null],
      );
      // A range ends with the last whole millisecond before the request.
      await sleep(2);
    },
    missedEvent: async (webhookId) => {
      await database.query(
        `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(now(), 1), account_id, event, 'call', now(), now(), '{}'
         FROM webhooks WHERE id = $1`,
        [webhookId],
      );
      await sleep(2);
    },
    complete: async (id) => {
      await database.query(
        `UPDATE replays SET state = 'completed', completed_at = now() WHERE id = $1`,
        [id],
      );
    },
  }));
