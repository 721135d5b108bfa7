import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, Log, Metrics, readConfig, Tracing, TypeOrmTransactions } from '#libs/runtime';
import type { ReportedEvent } from '../domain/event.js';
import { eventsContract } from '../domain/events.contract.js';
import { DeliveryQueue, type QueuedDelivery } from '../../queue/domain/delivery-queue.js';
import type { AccountLoadCounter } from '../../statistics/account-loads.js';
import { PostgresDeliveryStore } from '../../deliveries/infrastructure/postgres-delivery.store.js';
import { PostgresEventReader } from './postgres-event.reader.js';
import { PostgresEventStore } from './postgres-event.store.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aSubscription, anAccount, anApplication } from '../../../../../test/support/rows.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';

class QueueOfNothing extends DeliveryQueue {
  room = true;
  readonly added: QueuedDelivery[] = [];
  hasRoom(): boolean {
    return this.room;
  }
  add(jobs: readonly QueuedDelivery[]): Promise<void> {
    this.added.push(...jobs);
    return Promise.resolve();
  }
}

let database: TestDatabase;
let source: DataSource;
let activity: FakeActivity;
let queue: QueueOfNothing;
let reader: PostgresEventReader;
let deliveries: PostgresDeliveryStore;
let store: PostgresEventStore;
let other: PostgresEventStore;
/** The accounts of counted events. */
let counted: string[];
const loads = { add: (accountId: string) => void counted.push(accountId) };
let account: string;
let application: string;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url, poolSize: 10 }).initialize();
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  const config = readConfig({ DATABASE_URL: database.url });
  queue = new QueueOfNothing();
  activity = new FakeActivity();
  counted = [];
  const aDatabase = () => new Database(source, new Metrics(), new Log(config, 'test'), config);
  const aStore = () =>
    new PostgresEventStore(
      ...([aDatabase(), queue, activity, new Tracing()] as const),
      ...([loads as unknown as AccountLoadCounter, new Metrics(), config] as const),
    );
  const transactions = new TypeOrmTransactions(source, aDatabase());
  reader = new PostgresEventReader(transactions);
  deliveries = new PostgresDeliveryStore(transactions, queue, new Tracing(), config);
  store = aStore();
  other = aStore();
  account = await anAccount(database);
  application = await anApplication(database, account);
});

function anEvent(change: Partial<ReportedEvent> = {}): ReportedEvent {
  return {
    event: 'cdrCreated',
    resource: 'call',
    applicationId: application,
    data: '{"a":1}',
    ...change,
  };
}

it('counts accepted events of each account, but neither duplicates nor refused ones', async () => {
  await store.accept([anEvent({ producerId: 'x' }), anEvent(), anEvent({ applicationId: '999' })]);
  await store.accept([anEvent({ producerId: 'x' })]);
  expect(counted).toEqual([account, account]);
});

describe('events in PostgreSQL', () =>
  eventsContract({
    store: () => store,
    reader: () => reader,
    deliveries: () => deliveries,
    anAccount: async (subscriptions = 0) => {
      const id = await anAccount(database);
      for (let made = 0; made < subscriptions; made += 1) await aSubscription(database, id);
      return id;
    },
  }));

it('creates and queues one delivery for every matching subscription', async () => {
  const all = await aSubscription(database, account);
  const ofApplication = await aSubscription(database, account, {
    application_id: application,
    resource: 'sms,call',
  });
  await aSubscription(database, account, { enabled: false });
  await aSubscription(database, account, { event: 'cdrRated' });
  await aSubscription(database, account, { resource: 'sms' });
  await aSubscription(database, account, { deleted_at: new Date() });
  await aSubscription(database, account, {
    application_id: await anApplication(database, account),
  });
  await aSubscription(database, await anAccount(database));
  const [result] = await store.accept([anEvent()]);
  expect(result).toMatchObject({ accepted: true, duplicate: false, deliveries: 2 });
  expect(queue.added.map((job) => job.webhookId).sort()).toEqual([all, ofApplication].sort());
  expect(queue.added.every((job) => job.lease === 1)).toBe(true);
  const { id } = result as { id: string };
  const { rows } = await deliveries.list(account, { eventId: id }, { limit: 10 });
  expect(rows.map((delivery) => delivery.id).sort()).toEqual(
    queue.added.map((job) => job.id).sort(),
  );
  expect(rows.every((delivery) => delivery.state === 'pending')).toBe(true);
});

it('leases each delivery for the timeout of its subscription, and some time more', async () => {
  await aSubscription(database, account, { retry: { timeoutMs: 40_000 } });
  await aSubscription(database, account);
  await store.accept([anEvent()]);
  const leases = await database.query<{ seconds: number }>(
    `SELECT extract(epoch FROM claimed_until - created_at)::float8 AS seconds
     FROM deliveries WHERE account_id = $1 ORDER BY webhook_id`,
    [account],
  );
  expect(leases.map(({ seconds }) => seconds)).toEqual([55, 30]);
});

it('scans at most ten thousand events for a filter, and says where the scan stopped', async () => {
  const made = async (count: number, resource: string) => {
    await database.query(
      `INSERT INTO events (id, account_id, event, resource, test, occurred_at, created_at, data)
       SELECT new_uuid(clock_timestamp(), n), $1, 'cdrCreated', $2, false, now(), now(), '{}'
       FROM generate_series(1, $3::integer) n`,
      [account, resource, count],
    );
  };
  await made(2, 'sms');
  await made(10_500, 'call');
  const first = await reader.list(account, { resource: 'sms' }, { limit: 10 });
  expect(first).toEqual({ rows: [], stoppedAt: expect.any(String) as string });
  const second = await reader.list(
    account,
    { resource: 'sms' },
    { limit: 10, after: first.stoppedAt! },
  );
  expect(second.rows).toHaveLength(2);
  expect(second.stoppedAt).toBeUndefined();
  const enough = await reader.list(account, { resource: 'call' }, { limit: 10 });
  expect([enough.rows.length, enough.stoppedAt]).toEqual([10, undefined]);
});

it('keeps the data byte for byte', async () => {
  const data = '{ "n":12345678901234567890, "n": 1.0e5,"é\\u0000\\ud800":"\\"\\\\", "z":[ {} ]}';
  const [result] = await store.accept([anEvent({ data })]);
  const event = await reader.find((result as { id: string }).id, account);
  expect(event?.data).toBe(data);
  expect(
    await reader.find((result as { id: string }).id, await anAccount(database)),
  ).toBeUndefined();
});

it('stores long events in several statements, each of which is sent within a moment', async () => {
  const { master } = source.driver as unknown as { master: pg.Pool };
  const query = vi.spyOn(master, 'query');
  const data = [1, 2, 3, 4].map((n) => `{"n":${n},"quoted":"${String.raw`\"é\\`.repeat(45_000)}"}`);
  const results = await store.accept(data.map((text) => anEvent({ data: text })));
  const sent = query.mock.calls.map(
    ([given]) => (given as unknown as { values: unknown[] }).values,
  );
  query.mockRestore();
  const lengths = sent.flatMap((values) =>
    values.flatMap((value) => (Buffer.isBuffer(value) ? [Math.round(value.length / 270_000)] : [])),
  );
  expect(lengths).toEqual([3, 1]);
  for (const [index, result] of results.entries()) {
    const { id = '' } = result as { id?: string };
    expect((await reader.find(id, account))?.data).toBe(data[index]);
  }
});

it('refuses an event with an unknown application or account, and accepts the rest of the batch', async () => {
  const results = await store.accept([
    anEvent({ applicationId: '999999999' }),
    { event: 'smsdlr', resource: 'sms', accountId: '999999999', data: '{}' },
    anEvent({ accountId: await anAccount(database) }),
    anEvent({ accountId: account }),
    { event: 'smsdlr', resource: 'sms', accountId: account, data: '{}' },
  ]);
  expect(results).toMatchObject([
    { refusal: 'unknown_application' },
    { refusal: 'unknown_account' },
    { refusal: 'accounts_differ' },
    { accepted: true },
    { accepted: true },
  ]);
});

it('assigns late events of a deleted application to its account', async () => {
  const webhook = await aSubscription(database, account);
  await database.query('UPDATE applications SET deleted_at = now() WHERE id = $1', [application]);
  const [result] = await store.accept([anEvent()]);
  expect(result).toMatchObject({ accepted: true, deliveries: 1 });
  expect(queue.added[0]?.webhookId).toBe(webhook);
});

it('answers a repeated key with the first event, within a batch and later', async () => {
  await aSubscription(database, account);
  const producerId = randomUUID();
  const [first, second] = await store.accept([
    anEvent({ producerId }),
    anEvent({ producerId, data: '{"b":2}' }),
  ]);
  expect(first).toMatchObject({ duplicate: false, deliveries: 1 });
  expect(second).toEqual({ ...(first as object), duplicate: true });
  const [third, rated] = await store.accept([
    anEvent({ producerId }),
    anEvent({ producerId, event: 'cdrRated' }),
  ]);
  expect(third).toEqual(second);
  expect(rated).toMatchObject({ duplicate: false, deliveries: 0 });
  expect(queue.added).toHaveLength(1);
});

it('accepts one of many concurrent repeats, whatever their order in the batches', async () => {
  await aSubscription(database, account);
  const keys = Array.from({ length: 40 }, () => randomUUID());
  const batch = (order: string[]) => order.map((producerId) => anEvent({ producerId }));
  const runs = await Promise.all([
    store.accept(batch(keys)),
    other.accept(batch([...keys].reverse())),
    ...keys.map((producerId) => store.accept([anEvent({ producerId })])),
    ...keys.map((producerId) => other.accept([anEvent({ producerId })])),
  ]);
  const accepted = runs.flat() as { id: string; duplicate: boolean }[];
  expect(accepted.filter((result) => !result.duplicate)).toHaveLength(40);
  expect(new Set(accepted.map((result) => result.id)).size).toBe(40);
  const [row] = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM deliveries WHERE account_id = $1',
    [account],
  );
  expect(row?.count).toBe(40);
});

it('leaves deliveries unclaimed while the queue is full or their subscription has a backlog', async () => {
  await aSubscription(database, account);
  const backlogged = await aSubscription(database, account, { backlog: true });
  await store.accept([anEvent()]);
  queue.room = false;
  await store.accept([anEvent()]);
  const rows = await database.query<{ webhook_id: string; claimed: boolean }>(
    'SELECT webhook_id, claimed_until IS NOT NULL AS claimed FROM deliveries WHERE account_id = $1',
    [account],
  );
  expect(rows).toHaveLength(4);
  expect(rows.filter((row) => row.claimed)).toHaveLength(1);
  expect(rows.some((row) => row.claimed && row.webhook_id === backlogged)).toBe(false);
});

it('queues up to twenty deliveries of a subscription at once, and marks it as having a backlog', async () => {
  const webhook = await aSubscription(database, account);
  const few = await aSubscription(database, account, { event: 'cdrRated' });
  const many = Array.from({ length: 25 }, () => anEvent());
  await store.accept([...many, anEvent({ event: 'cdrRated' })]);
  const queuedFor = (id: string) => queue.added.filter(({ webhookId }) => webhookId === id);
  expect([queuedFor(webhook), queuedFor(few)].map(({ length }) => length)).toEqual([20, 1]);
  const rows = await database.query<{ id: string }>('SELECT id FROM webhooks WHERE backlog');
  expect(rows).toContainEqual({ id: webhook });
  expect(rows).not.toContainEqual({ id: few });
});

it('stores a single event beside a large batch, not behind it', async () => {
  const reported = anEvent({ producerId: randomUUID() });
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('BEGIN');
  await blocker.query(
    `INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
     VALUES ($1, 'cdrCreated', $2, gen_random_uuid(), 0)`,
    [account, reported.producerId],
  );
  let isStored = false;
  // Waits until the other transaction commits or rolls back its key.
  const batch = store
    .accept([reported, ...Array.from({ length: 30 }, () => anEvent())])
    .finally(() => (isStored = true));
  await sleep(100);
  expect(await store.accept([anEvent()])).toMatchObject([{ accepted: true }]);
  expect(isStored).toBe(false);
  await blocker.query('ROLLBACK');
  await blocker.end();
  expect(await batch).toHaveLength(31);
});

it('matches every combination of event, resources, level and enabled as the contract says', async () => {
  const events = ['smsdlr', 'cdrCreated', 'cdrRated'] as const;
  const resources = ['call', 'sms', 'transcription'] as const;
  const lists = [
    'all',
    ...resources,
    'call,sms',
    'sms,transcription',
    'transcription,call',
    'sms,call,transcription',
  ];
  const otherApplication = await anApplication(database, account);
  const subscriptions: {
    id: string;
    event: string;
    list: string;
    level?: string;
    enabled: boolean;
  }[] = [];
  for (const event of events) {
    for (const list of lists) {
      for (const level of [undefined, application, otherApplication]) {
        for (const enabled of [true, false]) {
          const columns = { event, resource: list, application_id: level ?? null, enabled };
          const id = await aSubscription(database, account, columns);
          subscriptions.push({ id, event, list, enabled, ...(level !== undefined && { level }) });
        }
      }
    }
  }
  for (const applicationId of [application, otherApplication, undefined]) {
    for (const event of events) {
      for (const resource of resources) {
        const from = applicationId === undefined ? { accountId: account } : { applicationId };
        queue.added.length = 0;
        await store.accept([{ event, resource, data: '{}', ...from }]);
        const expected = subscriptions.filter(
          (subscription) =>
            subscription.enabled &&
            subscription.event === event &&
            (subscription.list === 'all' || subscription.list.split(',').includes(resource)) &&
            (subscription.level === undefined || subscription.level === applicationId),
        );
        expect(queue.added.map((job) => job.webhookId).sort()).toEqual(
          expected.map(({ id }) => id).sort(),
        );
      }
    }
  }
});
