import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database, Log, Metrics, readConfig, TypeOrmTransactions } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { PostgresReplayStore } from './postgres-replay.store.js';
import { READY_REPLAYS } from './replay.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../../test/support/rows.js';

let database: TestDatabase;
let source: DataSource;
let store: PostgresReplayStore;
let webhook: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const extra = { query_timeout: 300 };
  source = await new DataSource({ type: 'postgres', url: database.url, extra }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  store = new PostgresReplayStore(new TypeOrmTransactions(source, statements));
  webhook = await aSubscription(database, await anAccount(database));
  await aPendingDelivery(database, webhook);
  await database.query(`UPDATE deliveries SET state = 'exhausted', completed_at = now()`);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const ACCOUNT = '1';
const range = () => ({ since: new Date(Date.now() - 60_000), states: ['exhausted'] as const });
const replays = () =>
  database.query<{ id: string; total: number }>('SELECT id, total, until FROM replays');

it('starts nothing when counting takes longer than the caller waits', async () => {
  const { manager } = source.createQueryRunner();
  await manager.query('BEGIN');
  await manager.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
  await expect(store.start(ACCOUNT, webhook, range())).rejects.toThrow();
  await manager.query('COMMIT');
  const left = () =>
    database.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
    );
  await eventually(left, (running) => running.length === 0);
  expect(await replays()).toEqual([]);
});

it('runs at most two counts at once, however many are requested', async () => {
  const { manager } = source.createQueryRunner();
  await manager.query('BEGIN');
  await manager.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
  const counting = new AbortController();
  const accounts = ['1', '1', '1', '2', '2', '3'];
  const counts = Promise.allSettled(
    accounts.map((account) => store.count(account, webhook, range())),
  );
  void counts.then(() => counting.abort());
  const asked = new Set<number>();
  while (!counting.signal.aborted) {
    const rows = await database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'
         AND xact_start > now() - interval '250 ms'`,
    );
    for (const { pid } of rows) asked.add(pid);
    expect(rows.length).toBeLessThanOrEqual(2);
  }
  await manager.query('COMMIT');
  expect(asked.size).toBeGreaterThan(2);
});

it('starts a replay of the deliveries that it counted', async () => {
  const id = await store.start(ACCOUNT, webhook, range());
  expect(await replays()).toMatchObject([{ id, total: 1 }]);
});

it('tells how long to wait until a subscription has started fewer replays', async () => {
  const withinMs = 60_000;
  const other = await aSubscription(database, await anAccount(database));
  expect(await store.msUntilFewer(other, { times: 1, withinMs })).toBe(0);
  await store.start(ACCOUNT, other, range());
  await store.start(ACCOUNT, other, range());
  expect(await store.msUntilFewer(other, { times: 3, withinMs })).toBe(0);
  const waitMs = await store.msUntilFewer(other, { times: 2, withinMs });
  expect(waitMs).toBeGreaterThan(withinMs - 10_000);
  expect(waitMs).toBeLessThanOrEqual(withinMs);
  expect(await store.msUntilFewer(other, { times: 2, withinMs: 0 })).toBe(0);
});

it('advances at most ten replays of an account per step, chosen at random, and those of others too', async () => {
  await database.query('DELETE FROM replays');
  const many = await anAccount(database);
  for (let n = 0; n < 12; n += 1) {
    await store.start(many, await aSubscription(database, many), range());
  }
  const other = await aSubscription(database, await anAccount(database));
  await store.start(ACCOUNT, other, range());
  const advanced = new Set<string>();
  const round = async () => {
    const rows = await database.run(READY_REPLAYS);
    for (const { webhookId } of rows) advanced.add(webhookId);
    return rows.map(({ webhookId }) => webhookId);
  };
  const first = await round();
  expect(first).toHaveLength(11);
  expect(first).toContain(other);
  await eventually(round, () => advanced.size === 13);
});
