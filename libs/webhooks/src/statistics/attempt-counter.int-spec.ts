import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BackgroundTasks,
  Database,
  Log,
  Metrics,
  readConfig,
  TypeOrmTransactions,
} from '#libs/runtime';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../test/support/rows.js';
import type { WebhooksService } from '../subscriptions/domain/webhooks.service.js';
import { type CountedAttempt, STEP_MS } from './domain/attempt-history.js';
import { Statistics } from './statistics.js';
import { AccountLoadCounter } from './account-loads.js';
import { AttemptCounter } from './attempt-counter.js';

const WEEK = { since: new Date('2026-01-01T00:00:00Z'), until: new Date('2026-01-08T00:00:00Z') };

let database: TestDatabase;
let source: DataSource;
let statistics: Statistics;
let counters: AttemptCounter[];
let loads: AccountLoadCounter[];

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const log = new Log(config, 'test');
  const statements = new Database(source, new Metrics(), log, config);
  const webhooks = { get: (_: string, id: string) => Promise.resolve({ id }) };
  statistics = new Statistics(
    webhooks as unknown as WebhooksService,
    new TypeOrmTransactions(source, statements),
  );
  // The tasks are not started.
  const tasks = () => new BackgroundTasks(log, new Metrics());
  loads = [1, 2].map(() => new AccountLoadCounter(tasks(), statements, log));
  counters = [1, 2, 3].map(() => new AttemptCounter(tasks(), statements, loads[0]!));
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const anAttempt = (accountId: string, webhookId: string): CountedAttempt => ({
  accountId,
  webhookId,
  attempt: { at: new Date('2026-01-02T03:04:05Z'), status: 200, durationMs: 10 },
});

async function historyOf(accountId: string, webhookId?: string, range = WEEK) {
  if (webhookId === undefined) return statistics.ofAccount(accountId, range);
  const { history, ...summary } = await statistics.of(accountId, webhookId, range);
  expect(history).toMatchObject({ attempts: summary.attempts, outcomes: summary.outcomes });
  return history!;
}

async function countedOf(accountId: string, webhookId?: string): Promise<number> {
  return (await historyOf(accountId, webhookId)).attempts;
}

async function count(...attempts: CountedAttempt[]): Promise<void> {
  for (const attempt of attempts) counters[0]!.count(attempt);
  await counters[0]!.flush();
}

describe('counted attempts', () => {
  const sinceMs = Date.parse('2026-01-31T12:00:00Z');
  let lastAccount = 700;
  const aCustomer = () => String((lastAccount += 1));
  const at = (steps: number) => new Date(sinceMs + steps * STEP_MS);
  const range = { since: at(0), until: at(6), buckets: 3 };
  const read = (accountId: string, webhookId?: string) => historyOf(accountId, webhookId, range);

  it('counts attempts by the bucket in which they began, up to its end', async () => {
    const accountId = aCustomer();
    const steps = [-0.01, 0, 1.99, 2, 5.99, 6];
    const attempts = steps.map((step) => ({ at: at(step), status: 200, durationMs: 10 }));
    await count(...attempts.map((attempt) => ({ accountId, webhookId: '1', attempt })));
    const found = await read(accountId, '1');
    expect(found.buckets.map((bucket) => bucket.attempts)).toEqual([2, 1, 1]);
    expect(found).toMatchObject({ attempts: 4, outcomes: { '2xx': 4 } });
  });

  it('counts attempts by subscription, by account and for the installation', async () => {
    const [accountId, other] = [aCustomer(), aCustomer()];
    const before = await statistics.ofInstallation(range);
    const attempt = { at: at(0), status: 503, durationMs: 10 };
    const failed = { at: at(0), error: 'timeout', durationMs: 9_000 } as const;
    await count(
      { accountId, webhookId: '1', attempt },
      { accountId, webhookId: '1', attempt: failed },
      { accountId, webhookId: '2', attempt },
      { accountId: other, webhookId: '3', attempt },
    );
    // Later attempts add to what was stored before.
    await count({ accountId, webhookId: '2', attempt });
    expect((await read(accountId, '1')).outcomes).toEqual({ '5xx': 1, timeout: 1 });
    expect((await read(accountId, '2')).outcomes).toEqual({ '5xx': 2 });
    expect((await read(accountId)).outcomes).toEqual({ '5xx': 3, timeout: 1 });
    expect((await read(accountId, '3')).outcomes).toEqual({});
    const after = await statistics.ofInstallation(range);
    expect(after.attempts - before.attempts).toBe(5);
    expect(after.outcomes).toMatchObject({ '5xx': 4, timeout: 1 });
  });

  it('estimates percentiles of answer times within a tenth', async () => {
    const accountId = aCustomer();
    const durations = Array.from({ length: 1_000 }, (_, index) => index + 1);
    await count(
      ...durations.map((durationMs) => ({
        accountId,
        webhookId: '1',
        attempt: { at: at(0), status: 200, durationMs },
      })),
    );
    const { answerMs } = await read(accountId, '1');
    expect(Math.abs(answerMs!.p50 - 500)).toBeLessThan(50);
    expect(Math.abs(answerMs!.p95 - 950)).toBeLessThan(95);
    expect(Math.abs(answerMs!.p99 - 990)).toBeLessThan(99);
  });
});

describe('the statistics of a subscription', () => {
  it('are about the last day unless a range is asked for', async () => {
    const attemptAt = (hoursAgo: number, outcome: object) => ({
      accountId: '800',
      webhookId: '1',
      attempt: { at: new Date(Date.now() - hoursAgo * 3_600_000), durationMs: 10, ...outcome },
    });
    const failed = { error: 'timeout' } as const;
    await count(attemptAt(0, { status: 200 }), attemptAt(23, failed), attemptAt(25, failed));
    const found = await statistics.of('800', '1');
    expect(found).toMatchObject({ attempts: 2, outcomes: { '2xx': 1, timeout: 1 } });
    expect(found).toMatchObject({ successRate: 0.5 });
    expect(found).not.toHaveProperty('history');
  });

  it('have no rate without attempts, and no times without answers', async () => {
    const none = await statistics.of('801', '1');
    expect(none).toMatchObject({ attempts: 0, outcomes: {}, waiting: { deliveries: 0 } });
    expect(none).not.toHaveProperty('successRate');
    const attempt = { at: new Date(), error: 'dns', durationMs: 1 } as const;
    await count({ accountId: '801', webhookId: '1', attempt });
    const failed = await statistics.of('801', '1');
    expect(failed).toMatchObject({ attempts: 1, outcomes: { dns: 1 }, successRate: 0 });
    expect(failed).not.toHaveProperty('answerMs');
  });
});

it('counts the waiting deliveries of a subscription, or of all of an account', async () => {
  const accountId = await anAccount(database);
  const [first, second, foreign] = [
    await aSubscription(database, accountId),
    await aSubscription(database, accountId),
    await aSubscription(database, await anAccount(database)),
  ];
  const waitingOf = async (id?: string) =>
    (id === undefined
      ? await statistics.ofAccount(accountId, {})
      : await statistics.of(accountId, id)
    ).waiting;
  expect(await waitingOf()).toEqual({ deliveries: 0, bySubscription: {} });
  const oldest = await aPendingDelivery(database, first);
  const newer = await aPendingDelivery(database, second);
  const finished = await aPendingDelivery(database, first);
  await aPendingDelivery(database, foreign);
  await database.query(
    `UPDATE deliveries SET state = 'succeeded', next_attempt_at = NULL, completed_at = now() WHERE id = $1`,
    [finished],
  );
  const madeAt = async (id: string) => {
    const rows = await database.query<{ at: Date }>(
      'SELECT created_at AS at FROM deliveries WHERE id = $1',
      [id],
    );
    return rows[0]!.at;
  };
  expect(await waitingOf()).toEqual({
    deliveries: 2,
    since: await madeAt(oldest),
    bySubscription: { [first]: 1, [second]: 1 },
  });
  expect(await waitingOf(second)).toEqual({ deliveries: 1, since: await madeAt(newer) });
  expect(await waitingOf(foreign)).toEqual({ deliveries: 0 });
});

it('adds the counts of workers that store them at the same time', async () => {
  const webhooks = Array.from({ length: 1_500 }, (_, index) => String(index + 1));
  for (const counter of counters) {
    for (const webhookId of webhooks) counter.count(anAttempt('900', webhookId));
  }
  await Promise.all(counters.map((counter) => counter.flush()));
  expect(await countedOf('900')).toBe(4_500);
  expect(await countedOf('900', '1500')).toBe(3);
});

it('keeps what could not be stored for the next time', async () => {
  const [counter] = counters;
  counter!.count(anAttempt('901', '1'));
  await database.query('ALTER TABLE attempt_counts RENAME TO away');
  await expect(counter!.flush()).rejects.toThrow();
  await database.query('ALTER TABLE away RENAME TO attempt_counts');
  counter!.count(anAttempt('901', '1'));
  await counter!.flush();
  await counter!.flush();
  expect(await countedOf('901', '1')).toBe(2);
});

describe('the load of accounts', () => {
  const stored = (accountId: string) =>
    database.query<object>(
      `SELECT at, reported, delivered, failed, busy_ms::integer AS "busyMs"
       FROM account_loads WHERE account_id = $1 ORDER BY at`,
      [accountId],
    );
  const at = new Date('2026-01-02T03:00:00Z');
  const later = new Date('2026-01-02T04:00:00Z');

  it('counts events and attempts by the hour, of all processes', async () => {
    const { attempt } = anAttempt('71', '1');
    counters[0]!.count({ ...anAttempt('71', '1') });
    counters[0]!.count({ ...anAttempt('71', '2'), attempt: { ...attempt, status: 500 } });
    await counters[0]!.flush();
    loads[1]!.add('71', attempt.at.getTime(), { reported: 2 });
    loads[1]!.add('71', later.getTime() + 1, { reported: 1 });
    await Promise.all(loads.map((one) => one.flush()));
    const nothing = { reported: 0, delivered: 0, failed: 0, busyMs: 0 };
    expect(await stored('71')).toEqual([
      { at, reported: 2, delivered: 1, failed: 1, busyMs: 20 },
      { at: later, ...nothing, reported: 1 },
    ]);
  });

  it('is stored later if that fails, and when the process ends', async () => {
    await database.query('ALTER TABLE account_loads RENAME TO away');
    loads[0]!.add('72', at.getTime(), { reported: 1 });
    await expect(loads[0]!.flush()).rejects.toThrow('account_loads');
    await loads[0]!.beforeApplicationShutdown();
    await database.query('ALTER TABLE away RENAME TO account_loads');
    loads[0]!.add('72', at.getTime(), { reported: 1 });
    await loads[0]!.beforeApplicationShutdown();
    expect(await stored('72')).toMatchObject([{ reported: 2 }]);
  });
});
