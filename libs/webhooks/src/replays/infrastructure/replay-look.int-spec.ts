import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AuditTrail } from '#libs/kernel';
import {
  Database,
  dataSourceOptions,
  Log,
  Metrics,
  readConfig,
  TypeOrmTransactions,
} from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { Replays } from '../replays.js';
import type { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';
import { ReplayLook } from './replay-look.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../../test/support/rows.js';

let database: TestDatabase;
let source: DataSource;
let statements: Database;
let replays: Replays;
let account: string;
let webhook: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  source = await new DataSource(dataSourceOptions(config, 300)).initialize();
  statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  const webhooks = { get: () => Promise.resolve({ enabled: true }) } as unknown as WebhooksService;
  const audit = { record: () => Promise.resolve() } as unknown as AuditTrail;
  replays = new Replays(new TypeOrmTransactions(source, statements), webhooks, audit);
  account = await anAccount(database);
  webhook = await aSubscription(database, account);
  await aPendingDelivery(database, webhook);
  await database.query(`UPDATE deliveries SET state = 'exhausted', completed_at = now()`);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const range = (webhookId?: string) => ({
  ...(webhookId !== undefined && { webhookId }),
  since: new Date(Date.now() - 60_000),
  states: ['exhausted'] as const,
});
const stored = () =>
  database.query<{ id: string; total: number }>('SELECT id, total, until FROM replays');

async function withDeliveriesLocked(work: () => Promise<unknown>): Promise<void> {
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
    await work();
  } finally {
    await holder.end();
  }
}

it('starts nothing when counting takes longer than the caller waits', async () => {
  await withDeliveriesLocked(() =>
    expect(replays.start(account, range(webhook))).rejects.toThrow(),
  );
  const left = () =>
    database.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
    );
  await eventually(left, (running) => running.length === 0);
  expect(await stored()).toEqual([]);
});

it('runs at most two counts at once, however many are requested', async () => {
  const [second, third] = [await anAccount(database), await anAccount(database)];
  for (const of of [second, third]) await aSubscription(database, of);
  const read = statements.run;
  let [now, most] = [0, 0];
  const metered = vi.spyOn(statements, 'run').mockImplementation(async (statement, ...given) => {
    now += 1;
    most = Math.max(most, now);
    try {
      return await read(statement, ...given);
    } finally {
      now -= 1;
    }
  });
  // Each of them waits until it is given up.
  const accounts = [account, account, account, second, second, third];
  await withDeliveriesLocked(() =>
    Promise.allSettled(accounts.map((caller) => replays.count(caller, range()))),
  );
  metered.mockRestore();
  expect(most).toBe(2);
});

it('starts a replay of the deliveries that it counted', async () => {
  const id = await replays.start(account, range(webhook));
  expect(await stored()).toMatchObject([{ id, total: 1 }]);
});

it('advances at most ten replays of an account per step, chosen at random, and those of others too', async () => {
  await database.query('DELETE FROM replays');
  const many = await anAccount(database);
  for (let n = 0; n < 12; n += 1) {
    await replays.start(many, range(await aSubscription(database, many)));
  }
  const others = await anAccount(database);
  const other = await aSubscription(database, others);
  await replays.start(others, range(other));
  const advanced = new Set<string>();
  const look = new ReplayLook(database.run);
  const round = async () => {
    const rows = await look.next();
    for (const { webhookId } of rows) advanced.add(webhookId);
    return rows.map(({ webhookId }) => webhookId);
  };
  const first = await round();
  expect(first).toHaveLength(11);
  expect(first).toContain(other);
  await eventually(round, () => advanced.size === 13);
});

it('advances one replay of a subscription at a time, whether it is of the subscription or of its account', async () => {
  await database.query('DELETE FROM replays');
  const own = await anAccount(database);
  const [first, second] = [await aSubscription(database, own), await aSubscription(database, own)];
  for (const one of [first, second]) await aPendingDelivery(database, one);
  await database.query(`UPDATE deliveries SET state = 'exhausted' WHERE state = 'pending'`);
  // A range ends with the last whole millisecond before the request.
  await sleep(2);
  const ofFirst = await replays.start(own, range(first));
  const ofAll = await replays.start(own, range());
  const next = await replays.start(own, range(second));
  const look = new ReplayLook(database.run);
  const ready = async () => (await look.next()).map(({ id, webhookId }) => [id, webhookId]);
  expect(await ready()).toEqual([
    [ofFirst, first],
    [ofAll, second],
  ]);
  // The first look removes the parts of a cancelled replay.
  await replays.cancel(own, ofFirst);
  expect(await ready()).toEqual([[ofAll, second]]);
  expect((await ready()).sort()).toEqual([
    [ofAll, first],
    [ofAll, second],
  ]);
  await replays.cancel(own, ofAll);
  expect(await ready()).toEqual([]);
  expect(await ready()).toEqual([[next, second]]);
});

it('cancels a replay whose only subscription is disabled, even between two statements', async () => {
  const own = await anAccount(database);
  const only = await aSubscription(database, own);
  await aPendingDelivery(database, only);
  await database.query(`UPDATE deliveries SET state = 'exhausted' WHERE state = 'pending'`);
  // A range ends with the last whole millisecond before the request.
  await sleep(2);
  const id = await replays.start(own, { ...range(only), event: 'cdrCreated' });
  await database.query(
    'UPDATE webhooks SET enabled = false, generation = generation + 1 WHERE id = $1',
    [only],
  );
  const look = new ReplayLook(database.run);
  for (let times = 0; times < 2; times += 1) {
    expect((await look.next()).map((ready) => ready.id)).not.toContain(id);
  }
  expect(await replays.show(own, id)).toMatchObject({ state: 'cancelled', total: 1, replayed: 0 });
  expect(await database.query('SELECT FROM replay_parts WHERE replay_id = $1', [id])).toEqual([]);
});

it('counts with statements that read ten thousand deliveries each, even if many are skipped', async () => {
  const many = await anAccount(database);
  const [first, second] = [
    await aSubscription(database, many),
    await aSubscription(database, many),
  ];
  await database.query(
    `WITH e AS (
       INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(now() - interval '1 s', 1), $1, 'cdrCreated', 'call', now(), now(), '{}'
       RETURNING id
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
     SELECT new_uuid(now() - interval '1 s', n), e.id, CASE WHEN n % 10 = 0 THEN $2::bigint ELSE $3 END, $1,
       'cdrCreated', 1, CASE WHEN n % 3 = 0 THEN 'exhausted' ELSE 'cancelled' END, now()
     FROM e, generate_series(1, 30000) n`,
    [many, first, second],
  );
  expect((await replays.count(many, range())).deliveries).toBe(10_000);
  expect((await replays.count(many, range(first))).deliveries).toBe(1_000);
});

it('counts the deliveries of more subscriptions than one statement covers', async () => {
  const many = await anAccount(database);
  await database.query(
    `WITH w AS (
       INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
       SELECT $1, 'cdrCreated', 'all', 'http://127.0.0.1:1024/', true, 'whsec_'
       FROM generate_series(1, 250) RETURNING id
     ),
     e AS (
       INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(now() - interval '1 s', 1), $1, 'cdrCreated', 'call', now(), now(), '{}'
       RETURNING id
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
     SELECT new_uuid(now() - interval '1 s', 1), e.id, w.id, $1, 'cdrCreated', 1, 'exhausted', now()
     FROM e, w`,
    [many],
  );
  expect((await replays.count(many, range())).deliveries).toBe(250);
  const id = await replays.start(many, range());
  const parts = await database.query('SELECT FROM replay_parts WHERE replay_id = $1', [id]);
  expect(parts).toHaveLength(250);
});

it('does not count replays of notices towards the limits', async () => {
  const theirs = await anAccount(database);
  const other = await aSubscription(database, theirs);
  await database.query(
    `INSERT INTO replays (id, webhook_id, account_id, event, since, until, states, missed, total)
     SELECT new_uuid(now(), n), $1, $2, 'webhookFailing', now(), now(), '{}', true, 0
     FROM generate_series(1, 30) n`,
    [other, theirs],
  );
  expect(await replays.start(theirs, range(other))).toEqual(expect.any(String));
});
