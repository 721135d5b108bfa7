import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EVERY_ACCOUNT, type Scope } from '#libs/kernel';
import { Database, Log, Metrics, readConfig, TypeOrmTransactions } from '#libs/runtime';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { partitionsOf } from '../../../../../test/support/past.js';
import { rowsIn, type Step } from '../../../../../test/support/plans.js';
import { anAccount } from '../../../../../test/support/rows.js';
import { dayAt, leastIdAt } from '../../partitions/partition-days.js';
import type { FeedFilter } from '../domain/feed.js';
import { findAnyNews, findNews, readFeed } from './feed.statements.js';
import { PostgresFeedHorizon } from './postgres-feed-horizon.js';
import { PostgresFeedReader } from './postgres-feed.reader.js';

const ACCEPT = `
INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at, '{}' FROM (SELECT feed_time() AS at) t
RETURNING id`;

let database: TestDatabase;
let source: DataSource;
let own: Database;
let horizon: PostgresFeedHorizon;
let reader: PostgresFeedReader;
let writer: pg.Client;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url, poolSize: 5 }).initialize();
  writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
});
afterAll(async () => {
  await writer.end();
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  const config = readConfig({ DATABASE_URL: database.url });
  own = new Database(source, new Metrics(), new Log(config, 'test'), config);
  horizon = new PostgresFeedHorizon(own);
  reader = new PostgresFeedReader(new TypeOrmTransactions(source, own));
  await database.query('TRUNCATE events');
  await database.query('UPDATE feed_clock SET at = now()');
  account = await anAccount(database);
});

async function accept(on?: pg.Client, of = account): Promise<string> {
  const [made] = on
    ? (await on.query<{ id: string }>(ACCEPT, [of])).rows
    : await database.query<{ id: string }>(ACCEPT, [of]);
  return made!.id;
}

async function idsBetween(
  after: string,
  end: string,
  { scope = account, limit = 100, ...filter }: FeedFilter & { scope?: Scope; limit?: number } = {},
): Promise<string[]> {
  const { rows } = await reader.read(scope, filter, { after, limit }, end);
  return rows.map(({ id }) => id);
}

describe('the horizon', () => {
  it('includes everything that was accepted before', async () => {
    const start = await horizon.current();
    for (let n = 0; n < 20; n += 1) {
      const id = await accept();
      const end = await horizon.current();
      expect(id < end && id > start).toBe(true);
    }
  });

  it('does not pass an event that is not committed yet, and nothing appears behind a cursor', async () => {
    const start = await horizon.current();
    await writer.query('BEGIN');
    const open = await accept(writer);
    const committed = await accept();
    const held = await horizon.current();
    expect([held < open, open < committed]).toEqual([true, true]);
    expect(await idsBetween(start, held)).toEqual([]);
    await writer.query('COMMIT');
    const end = await horizon.current();
    expect(await idsBetween(held, end)).toEqual([open, committed]);
  });

  it('is before the id of a transaction that took its lock before it read the time', async () => {
    await writer.query('BEGIN');
    const { rows } = await writer.query<{ at: Date }>('SELECT feed_time() AS at');
    const held = await horizon.current();
    const id = await accept(writer);
    expect(held <= leastIdAt(rows[0]!.at.getTime() + 1)).toBe(true);
    expect(held < id).toBe(true);
    await writer.query('ROLLBACK');
  });

  it('goes on when the transaction is given up', async () => {
    await writer.query('BEGIN');
    const lost = await accept(writer);
    expect((await horizon.current()) < lost).toBe(true);
    await writer.query('ROLLBACK');
    expect((await horizon.current()) > lost).toBe(true);
  });

  it('waits for a transaction that hangs, no longer than PostgreSQL lets it', async () => {
    const hanging = new pg.Client({ connectionString: database.url });
    hanging.on('error', () => undefined);
    await hanging.connect();
    await hanging.query(`SET idle_in_transaction_session_timeout = '500ms'`);
    await hanging.query('BEGIN');
    const lost = await accept(hanging);
    const next = await accept();
    expect((await horizon.current()) < lost).toBe(true);
    await expect.poll(() => horizon.current().then((end) => end > next)).toBe(true);
    await hanging.end();
  });

  it('is kept when the clock is set back: later events are after every horizon that was given', async () => {
    const ahead = `now() + interval '1 hour'`;
    await database.query(`UPDATE feed_clock SET at = ${ahead}`);
    const given = await horizon.current();
    const ids = [await accept(), await accept()];
    expect(ids.every((id) => id > given)).toBe(true);
    // They appear at once, though the clock of PostgreSQL is an hour behind.
    const next = await horizon.current();
    expect(await idsBetween(given, next)).toEqual(ids.sort());
    const later = await accept();
    expect(await idsBetween(next, await horizon.current())).toEqual([later]);
  });

  it('does not follow a clock for whose day there is no partition', async () => {
    await database.query(`UPDATE feed_clock SET at = now() - interval '1 minute'`);
    const [today] = await database.query<{ name: string }>(
      `SELECT 'events_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS name`,
    );
    const before = await database.query('SELECT at FROM feed_clock');
    await database.query(`ALTER TABLE ${today!.name} RENAME TO events_away`);
    await horizon.current();
    expect(await database.query('SELECT at FROM feed_clock')).toEqual(before);
    await database.query(`ALTER TABLE events_away RENAME TO ${today!.name}`);
    await horizon.current();
    expect(await database.query('SELECT at FROM feed_clock')).not.toEqual(before);
  });

  it('is read once for all that ask, and anew for who asks later', async () => {
    const asked = Promise.all([horizon.current(), horizon.current()]);
    const [one, other] = await asked;
    expect(one).toBe(other);
    const raised = vi.spyOn(own, 'runSynchronously');
    const ends: string[] = [];
    const begin = performance.now();
    const ask = async () => {
      while (performance.now() - begin < 300) ends.push(await horizon.current());
    };
    await Promise.all([ask(), ask(), ask()]);
    expect(raised.mock.calls.length).toBeLessThan(9);
    expect(new Set(ends).size).toBe(raised.mock.calls.length);
  });

  it('costs an event the same while an old transaction keeps all versions of the clock', async () => {
    await writer.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await writer.query('SELECT FROM feed_clock');
    for (let n = 0; n < 1_000; n += 1) await database.query('SELECT raise_feed_clock()');
    await database.query('SET enable_seqscan = off');
    const [plan] = await database.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
      'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT at FROM feed_clock ORDER BY at DESC LIMIT 1',
    );
    const { 'Shared Hit Blocks': blocks } = plan!['QUERY PLAN'][0]!.Plan as Step & {
      'Shared Hit Blocks': number;
    };
    await writer.query('ROLLBACK');
    expect(blocks).toBeLessThan(10);
    expect(await database.query('SELECT FROM feed_clock')).toHaveLength(1);
  });

  it('never goes back while several raise the clock', async () => {
    const raise = async () => {
      const given: number[] = [];
      for (let n = 0; n < 50; n += 1) {
        const [row] = await database.query<{ micros: string }>(
          'SELECT raise_feed_clock() AS micros',
        );
        given.push(Number(row!.micros));
      }
      return given;
    };
    const all = (await Promise.all([raise(), raise(), raise(), raise()])).flat();
    const [row] = await database.query<{ micros: string }>(
      'SELECT (extract(epoch FROM at) * 1000000)::bigint AS micros FROM feed_clock',
    );
    expect(Number(row!.micros)).toBe(Math.max(...all));
  });
});

it('gives followers every event once and in one order, while several write', async () => {
  const start = await horizon.current();
  let writing = true;
  const followed = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = start; ;) {
      const wasWriting = writing;
      const end = await horizon.current();
      ids.push(...(await idsBetween(after, end, { limit: 1_000 })));
      after = end;
      if (!wasWriting) return ids;
    }
  };
  const write = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await accept());
    return ids;
  };
  const written = Promise.all(Array.from({ length: 4 }, write)).finally(() => (writing = false));
  const [one, other, ids] = await Promise.all([followed(), followed(), written]);
  expect(one).toEqual(other);
  expect(one.toSorted()).toEqual(ids.flat().sort());
});

describe('a page', () => {
  it('has the events of one account or of all, as far as the filters and the limit let it', async () => {
    const other = await anAccount(database);
    const start = await horizon.current();
    const ids = [await accept(), await accept(), await accept()];
    const foreign = await accept(undefined, other);
    await database.query(`UPDATE events SET test = true WHERE id = $1`, [ids[1]]);
    await database.query(
      `UPDATE events SET producer_id = 'p', data = '{"x":"needle"}' WHERE id = $1`,
      [ids[2]],
    );
    const end = await horizon.current();
    expect(await idsBetween(start, end)).toEqual([ids[0], ids[2]]);
    expect(await idsBetween(start, end, { limit: 1 })).toEqual([ids[0]]);
    expect(await idsBetween(ids[0]!, end)).toEqual([ids[2]]);
    expect(await idsBetween(start, end, { scope: EVERY_ACCOUNT })).toEqual([
      ids[0],
      ids[2],
      foreign,
    ]);
    expect(await idsBetween(start, end, { producerId: 'p' })).toEqual([ids[2]]);
    expect(await idsBetween(start, end, { contains: 'needle' })).toEqual([ids[2]]);
    expect(await idsBetween(start, end, { event: 'smsdlr' })).toEqual([]);
    expect(await idsBetween(start, end, { resource: 'call', applicationId: '1' })).toEqual([]);
    expect(await idsBetween(end, start)).toEqual([]);
  });

  it('reads at most ten thousand events and 1 MiB of data, and says where it stopped', async () => {
    const start = await horizon.current();
    await database.query(
      `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(clock_timestamp(), n), $1, 'cdrCreated', 'call', now(), now(), '{}'
       FROM generate_series(1, 10500) n`,
      [account],
    );
    await database.query(
      `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(clock_timestamp(), n), $1, 'cdrRated', 'call', now(), now(), repeat('x', 400000)
       FROM generate_series(1, 5) n`,
      [account],
    );
    const end = await horizon.current();
    const page = (after: string) =>
      reader.read(account, { event: 'cdrRated' }, { after, limit: 100 }, end);
    const first = await page(start);
    expect(first).toEqual({ rows: [], stoppedAt: expect.any(String) as string });
    const second = await page(first.stoppedAt!);
    expect([second.rows.length, second.stoppedAt]).toEqual([3, second.rows.at(-1)!.id]);
    const third = await page(second.stoppedAt!);
    expect([third.rows.length, third.stoppedAt]).toEqual([2, undefined]);
  });

  it('goes over days, from the oldest one on that is kept', async () => {
    const days = [40, 20, 3];
    for (const daysAgo of days) {
      await partitionsOf(database, daysAgo);
      await database.query(
        `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at, '{}'
         FROM (SELECT now() - $2::integer * interval '24 hours' AS at) t`,
        [account, daysAgo],
      );
    }
    await accept();
    const end = await horizon.current();
    const oldest = await reader.oldest(end);
    const day = dayAt(new Date()) - 20;
    expect(oldest).toBe(leastIdAt(day * 86_400_000));
    expect(await idsBetween(leastIdAt(0), end)).toHaveLength(4);
    expect(await idsBetween(oldest, end)).toHaveLength(3);
    expect(await idsBetween(oldest, end, { scope: EVERY_ACCOUNT })).toHaveLength(3);
  });
});

it('tells who has news', async () => {
  const other = await anAccount(database);
  const start = await horizon.current();
  const first = await accept();
  const end = await horizon.current();
  const waiting = (scope: Scope, after: string) => ({ scope, after });
  expect(
    await reader.haveNews(
      [
        waiting(account, start),
        waiting(other, start),
        waiting(account, first),
        waiting(EVERY_ACCOUNT, start),
        waiting(EVERY_ACCOUNT, start),
      ],
      end,
    ),
  ).toEqual([true, false, false, true, true]);
  expect(await reader.haveNews([waiting(EVERY_ACCOUNT, first)], end)).toEqual([false]);
  expect(await reader.haveNews([waiting(account, start)], start)).toEqual([false]);
});

it('reads only the events of a page, and one of each account that waits', async () => {
  const busy = await anAccount(database);
  const start = await horizon.current();
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(clock_timestamp(), n), $1, 'cdrCreated', 'call', now(), now(), '{}'
     FROM generate_series(1, 20000) n`,
    [busy],
  );
  for (let n = 0; n < 5; n += 1) await accept();
  const end = await horizon.current();
  const today = dayAt(new Date());
  const span = { first: today, last: today };
  await writer.query('ANALYZE events; SET enable_seqscan = off; SET enable_sort = off');
  const read = async ({ text }: { text: string }, values: unknown[]): Promise<number> => {
    const { rows } = await writer.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    return rowsIn(rows[0]!['QUERY PLAN'][0]!.Plan, /^events/);
  };
  const none = {
    ...{ event: undefined, resource: undefined, applicationId: undefined, producerId: undefined },
  };
  const page = async (accountId: Scope, limit: number) => {
    const statement = readFeed(span, { isOwned: accountId !== EVERY_ACCOUNT, searches: false });
    return read(statement, statement.valuesOf({ accountId, after: start, end, limit, ...none }));
  };
  expect(await page(account, 100)).toBe(5);
  expect(await page(busy, 100)).toBeLessThanOrEqual(101);
  expect(await page(EVERY_ACCOUNT, 100)).toBeLessThanOrEqual(101);
  const news = findNews(span);
  const asked = { accountIds: [account, busy, '0'], afters: [start, start, start], end };
  expect(Math.round(await read(news, news.valuesOf(asked)))).toBe(2);
  const any = findAnyNews(span);
  expect(await read(any, any.valuesOf({ after: start, end }))).toBe(1);
});
