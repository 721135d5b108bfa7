import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuditTrail, EVERY_ACCOUNT } from '#libs/kernel';
import {
  type BackgroundTasks,
  type Config,
  Database,
  Log,
  Metrics,
  readConfig,
  type TaskWork,
  Tracing,
  statement,
  TypeOrmTransactions,
} from '#libs/runtime';
import { DeliveryQueue } from '../queue/domain/delivery-queue.js';
import type { AccountLoadCounter } from '../statistics/account-loads.js';
import { DeliveryCanceller } from '../sending/infrastructure/delivery-canceller.js';
import type { DeliveryMetrics } from '../sending/delivery-metrics.js';
import { DeliveryReplayer } from '../replays/infrastructure/delivery-replayer.js';
import { PendingDays } from '../sending/pending-days.js';
import type { WebhooksService } from '../subscriptions/domain/webhooks.service.js';
import { Statistics } from '../statistics/statistics.js';
import { PostgresDeliveryStore } from '../deliveries/infrastructure/postgres-delivery.store.js';
import { PostgresEventReader } from '../events/infrastructure/postgres-event.reader.js';
import { PostgresEventStore } from '../events/infrastructure/postgres-event.store.js';
import { Replays } from '../replays/replays.js';
import { Retention } from '../retention/retention.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { meterLocks } from '../../../../test/support/locks.js';
import { pastDeliveries } from '../../../../test/support/past.js';
import { aSubscription, anAccount } from '../../../../test/support/rows.js';
import { FakeActivity } from '../activity/domain/activity.fake.js';

const DAYS = 420;
/** PostgreSQL's default: room for 64 locks of each connection. */
const LOCKS_SETTING = '64';
const BOUND = 200;

/** The ages of the deliveries, in days: a month without gaps, and one about to be removed. */
const AGES = [0.5, ...Array.from({ length: 30 }, (_, ago) => 40 + ago), 400, DAYS - 0.5];

const PARTITIONS = `
CREATE PROCEDURE make_partitions(days integer) LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day date;
BEGIN
  FOR ago IN 1..days LOOP
    day := (now() AT TIME ZONE 'UTC')::date - ago;
    FOREACH parent IN ARRAY ARRAY['events', 'deliveries', 'attempts'] LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
        least_uuid(day::timestamp AT TIME ZONE 'UTC'),
        least_uuid((day + 1)::timestamp AT TIME ZONE 'UTC'));
    END LOOP;
    -- Making them all at once takes more locks than there are.
    IF ago % 20 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$`;

class QueueOfNothing extends DeliveryQueue {
  hasRoom(): boolean {
    return true;
  }
  add(): Promise<void> {
    return Promise.resolve();
  }
}

let database: TestDatabase;
let source: DataSource;
let locks: Map<string, number>;
let config: Config;
let statements: Database;
let transactions: TypeOrmTransactions;
let deliveries: PostgresDeliveryStore;
let events: PostgresEventReader;
let eventStore: PostgresEventStore;
let account: string;
let webhook: { id: string; createdAt: Date };
/** The deliveries of {@link AGES}, newest first. */
let past: string[];

beforeAll(async () => {
  database = await createTestDatabase({ RETENTION_DAYS: String(DAYS) });
  await database.query(PARTITIONS);
  await database.query(`CALL make_partitions(${String(DAYS + 1)})`);
  account = await anAccount(database);
  const createdAt = new Date(Date.now() - DAYS * 86_400_000);
  webhook = { id: await aSubscription(database, account, { created_at: createdAt }), createdAt };
  past = [];
  for (const daysAgo of AGES)
    past.push(...(await pastDeliveries(database, webhook.id, { daysAgo })));
  source = await new DataSource({ type: 'postgres', url: database.url, poolSize: 4 }).initialize();
  locks = meterLocks(source);
  config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  transactions = new TypeOrmTransactions(source, statements);
  const queue = new QueueOfNothing();
  deliveries = new PostgresDeliveryStore(transactions, queue, new Tracing(), config);
  events = new PostgresEventReader(transactions);
  eventStore = new PostgresEventStore(
    ...([statements, queue, new FakeActivity(), new Tracing()] as const),
    ...([
      { add: () => undefined } as unknown as AccountLoadCounter,
      new Metrics(),
      config,
    ] as const),
  );
}, 300_000);
afterAll(async () => {
  await source.destroy();
  await database.drop();
}, 60_000);

/** The statements that took too many locks while `work` ran; fails if none took any. */
async function overBound(work: () => Promise<void>): Promise<[string, number][]> {
  locks.clear();
  await work();
  expect(locks.size).toBeGreaterThan(0);
  return [...locks].filter(([, count]) => count >= BOUND);
}

const idsOf = (found: { id: string }[]) => found.map(({ id }) => id);

/**
 * Makes an object with a background task. @returns the object, and a function that runs the task
 * once
 */
function withTask<Made>(make: (tasks: BackgroundTasks) => Made): [Made, () => Promise<void>] {
  const works: TaskWork[] = [];
  const add = (_name: string, _options: object, work: TaskWork) => works.push(work);
  const made = make({ add } as unknown as BackgroundTasks);
  return [made, () => works[0]!(new AbortController().signal)];
}

const rowsOf = (ids: string[]) =>
  database.query<{ state: string; attempts: number }>(
    'SELECT state, attempts FROM deliveries WHERE id = ANY ($1) ORDER BY id DESC',
    [ids],
  );

it("runs with PostgreSQL's default lock settings", async () => {
  const [row] = await database.query('SHOW max_locks_per_transaction');
  expect(row).toEqual({ max_locks_per_transaction: LOCKS_SETTING });
});

it('takes few locks to accept and find events', async () => {
  let found: unknown;
  const all = await overBound(async () => {
    const [accepted] = await eventStore.accept([
      { event: 'cdrCreated', resource: 'call', accountId: account, producerId: 'one', data: '{}' },
    ]);
    const { id } = accepted as { id: string };
    const { rows } = await deliveries.list(account, { eventId: id }, { limit: 10 });
    found = [(await events.find(id, account))?.id === id, rows.length];
  });
  expect(found).toEqual([true, 1]);
  expect(all).toEqual([]);
});

it('takes few locks to list events of all days, of a time range, after an event, and of a key', async () => {
  const page = { limit: 100 };
  const listed: number[] = [];
  const all = await overBound(async () => {
    const { rows: whole } = await events.list(account, {}, page);
    const oldest = whole.at(-1)!;
    for (const [filter, place] of [
      [{}, page],
      [{ since: new Date(Date.now() - 20 * 86_400_000) }, page],
      [{ until: new Date(Date.now() - 20 * 86_400_000) }, page],
      [{}, { ...page, after: whole.at(-3)!.id }],
      [{ producerId: oldest.producerId! }, page],
      [{ unmatched: true }, page],
    ] as const) {
      listed.push((await events.list(account, filter, place)).rows.length);
    }
  });
  expect(listed).toEqual([AGES.length + 1, 2, AGES.length - 1, 2, 1, 0]);
  expect(all).toEqual([]);
});

it('takes few locks to list deliveries in any state, and to show one with its attempts', async () => {
  const listed: Record<string, string[]> = {};
  const all = await overBound(async () => {
    for (const state of ['pending', 'parked', 'exhausted', 'cancelled', 'succeeded']) {
      listed[state] = idsOf(
        (await deliveries.list(EVERY_ACCOUNT, { webhook, state }, { limit: 100 })).rows,
      );
    }
    listed.ofAccount = idsOf(
      (await deliveries.list(account, { status: '2xx' }, { limit: 100 })).rows,
    );
    const after = past[2]!;
    listed.after = idsOf(
      (await deliveries.list(EVERY_ACCOUNT, { webhook }, { limit: 1, after })).rows,
    );
    const oldest = past.at(-1)!;
    expect(await deliveries.find(oldest, account)).toMatchObject({ resource: 'call' });
    expect(await deliveries.attemptsOf(oldest, 0, 100)).toHaveLength(1);
  });
  expect(listed).toMatchObject({
    succeeded: past,
    ofAccount: past,
    after: [past[3]],
    exhausted: [],
    cancelled: [],
  });
  expect(listed.pending).toHaveLength(1);
  expect(all).toEqual([]);
});

it('takes few locks to compute statistics', async () => {
  const webhooks = { get: () => Promise.resolve(webhook) } as unknown as WebhooksService;
  const statistics = new Statistics(webhooks, transactions);
  const all = await overBound(async () => {
    expect(await statistics.of(account, webhook.id)).toMatchObject({
      waiting: { deliveries: 1, since: expect.any(Date) as Date },
    });
  });
  expect(all).toEqual([]);
});

it('takes few locks to redeliver, send and cancel a delivery, and to create a test', async () => {
  const oldest = past.at(-1)!;
  const all = await overBound(async () => {
    expect(await deliveries.redeliver(oldest)).toBe(true);
    expect(await deliveries.sendNow(oldest)).toBe(true);
    expect(await deliveries.cancel(oldest)).toBe(true);
    const test = { webhookId: webhook.id, resource: 'call', data: '{}' };
    expect(await deliveries.createTest(test)).toEqual(expect.any(String));
  });
  expect(await rowsOf([oldest])).toEqual([{ state: 'cancelled', attempts: 1 }]);
  expect(all).toEqual([]);
});

it('takes few locks to count, start and carry out a replay of all days, and releases them after each step', async () => {
  const webhooks = { get: () => Promise.resolve({ enabled: true }) } as unknown as WebhooksService;
  const audit = { record: () => Promise.resolve() } as unknown as AuditTrail;
  const replays = new Replays(transactions, webhooks, audit);
  const range = { since: webhook.createdAt, states: ['succeeded', 'cancelled'] } as const;
  const filter = { webhookId: webhook.id, ...range };
  const [days] = withTask((tasks) => new PendingDays(statements, tasks));
  const [, carryOut] = withTask((tasks) => new DeliveryReplayer(tasks, statements, days));
  let replay: unknown;
  const all = await overBound(async () => {
    expect((await replays.count(account, filter)).deliveries).toBe(AGES.length);
    const id = await replays.start(account, filter);
    await carryOut();
    replay = await replays.show(account, id);
  });
  expect(replay).toMatchObject({ state: 'completed', total: AGES.length, replayed: AGES.length });
  expect((await rowsOf(past)).map(({ state }) => state)).toEqual(AGES.map(() => 'pending'));
  // Days with new pending deliveries are known at once; the oldest day shares its span with no
  // other.
  const last = (await days.spans(1)).at(-1)!;
  expect(last.first).toBe(Math.floor((Date.now() - (DAYS - 0.5) * 86_400_000) / 86_400_000));
  expect(all).toEqual([]);
});

it('takes few locks to cancel pending deliveries of all days, and stops when none is left', async () => {
  const held = past[1]!;
  const switchedOff = `enabled = false, generation = generation + 1, cancelling = true,
    updated_at = now() - interval '2 minutes'`;
  await database.query(`UPDATE webhooks SET ${switchedOff} WHERE id = $1`, [webhook.id]);
  const hold = (duration: string) =>
    database.query(
      `UPDATE deliveries SET claimed_until = CASE WHEN id = $1 THEN now() + $2::interval END
       WHERE state = 'pending'`,
      [held, duration],
    );
  await hold('1 minute');
  const cancelling = async () =>
    (await database.query<{ cancelling: boolean }>('SELECT cancelling FROM webhooks'))[0]
      ?.cancelling;
  const shown = async () => (await rowsOf(past)).map(({ state }) => state);
  const [days] = withTask((tasks) => new PendingDays(statements, tasks));
  const [, cancel] = withTask((tasks) => new DeliveryCanceller(tasks, statements, days));
  const all = await overBound(async () => {
    await cancel();
    // A leased delivery is left to a later run, and cancelling continues until then.
    expect(await shown()).toEqual(AGES.map((_, place) => (place === 1 ? 'pending' : 'cancelled')));
    expect(await cancelling()).toBe(true);
    await hold('0 s');
    await cancel();
  });
  expect(await cancelling()).toBe(false);
  expect(await shown()).toEqual(AGES.map(() => 'cancelled'));
  expect(all).toEqual([]);
});

it('takes few locks to create partitions ahead, expire old deliveries, and remove the oldest day', async () => {
  const metrics = { ended: () => undefined } as unknown as DeliveryMetrics;
  // One day less of retention, so that the oldest day is due for removal.
  await database.query(
    `CREATE OR REPLACE FUNCTION retention_days() RETURNS integer LANGUAGE sql STABLE RETURN ${String(DAYS - 1)}`,
  );
  const [, remove] = withTask((tasks) => new Retention(tasks, statements, metrics));
  const partitions = async () =>
    (await database.query(`SELECT 1 FROM pg_inherits WHERE inhparent = 'deliveries'::regclass`))
      .length;
  const before = await partitions();
  const oldest = past.at(-1)!;
  await database.query(
    `UPDATE deliveries SET state = 'pending', next_attempt_at = now() WHERE id = $1`,
    [oldest],
  );
  const all = await overBound(async () => {
    await statements.run(statement('SELECT ensure_partitions(8)'));
    await remove();
  });
  expect(await partitions()).toBe(before);
  expect((await rowsOf([oldest]))[0]?.state).toBe('exhausted');
  expect(all).toEqual([]);
});
