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
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { attemptHistoryContract } from '../domain/attempt-history.contract.js';
import { bucketsOf, type CountedAttempt, historyOf } from '../domain/attempt-history.js';
import { AccountLoadCounter } from './account-loads.js';
import { AttemptCounter, PostgresAttemptHistoryStore } from './attempt-counter.js';

const WEEK = { since: new Date('2026-01-01T00:00:00Z'), until: new Date('2026-01-08T00:00:00Z') };

let database: TestDatabase;
let source: DataSource;
let history: PostgresAttemptHistoryStore;
let counters: AttemptCounter[];
let loads: AccountLoadCounter[];

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const log = new Log(config, 'test');
  const statements = new Database(source, new Metrics(), log, config);
  history = new PostgresAttemptHistoryStore(new TypeOrmTransactions(source, statements));
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

async function countedOf(accountId: string, webhookId?: string): Promise<number> {
  const buckets = bucketsOf(WEEK);
  return historyOf(buckets, await history.counts(accountId, webhookId, buckets)).attempts;
}

describe('counted attempts in PostgreSQL', () => {
  attemptHistoryContract({
    history: () => history,
    count: async (...attempts) => {
      for (const attempt of attempts) counters[0]!.count(attempt);
      await counters[0]!.flush();
    },
  });
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
