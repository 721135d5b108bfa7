import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { actAs, BusyError, UnavailableError } from '#libs/kernel';
import {
  type Config,
  Database,
  dataSourceOptions,
  Log,
  Metrics,
  readConfig,
  statement,
  TypeOrmTransactions,
} from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const SILENCE_MS = 200;

let database: TestDatabase;
let config: Config;
let source: DataSource;
let statements: Database;
let transactions: TypeOrmTransactions;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('CREATE TABLE things (name text)');
  // One connection, so that the next statement meets whatever state is left on it.
  config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const options = dataSourceOptions({ ...config, DATABASE_POOL_SIZE: 1 }, SILENCE_MS);
  source = await new DataSource(options).initialize();
  statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  transactions = new TypeOrmTransactions(source, statements);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(() => database.query('DELETE FROM things'));

const INSERT = statement<{ name: string }>('INSERT INTO things VALUES (@name)');
const add = (name: string) => transactions.query(INSERT, { name });
const FAIL = statement(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$`);
const names = async () =>
  (await database.query<{ name: string }>('SELECT name FROM things')).map(({ name }) => name);

it('leaves no transaction open on a connection whose statement timed out', async () => {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('LOCK TABLE things IN ACCESS EXCLUSIVE MODE');
    await expect(transactions.run(() => add('late'))).rejects.toThrow(UnavailableError);
    await other.query('COMMIT');
  } finally {
    await other.end();
  }
  await statements.run(INSERT, { name: 'next' });
  expect(await names()).toEqual(['next']);
});

it('closes an unused connection before it counts as silent', async () => {
  const poolErrorHandler = vi.fn();
  // Long enough for a busy PostgreSQL to end its side.
  const options = { ...dataSourceOptions(config, 2_000), poolErrorHandler } as DataSourceOptions;
  const own = await new DataSource(options).initialize();
  const pool = (own.driver as unknown as { master: pg.Pool }).master;
  await own.query('SELECT 1');
  await eventually(
    () => pool.totalCount,
    (open) => open === 0,
  );
  expect(poolErrorHandler).not.toHaveBeenCalled();
  await own.destroy();
});

it('leaves half of the connections to others, however many transactions one user starts', async () => {
  const pool = await new DataSource({
    type: 'postgres',
    url: database.url,
    poolSize: 4,
  }).initialize();
  const shared = new TypeOrmTransactions(pool, statements);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let begun = 0;
  const work = async () => {
    begun += 1;
    await held;
  };
  const as = (userId: string) => actAs({ name: userId, userId }, () => shared.run(work));
  try {
    const all = [as('1'), as('1'), as('1'), as('1'), as('2')];
    const many = Array.from({ length: 1_000 }, () => as('1').catch((error: unknown) => error));
    await vi.waitFor(() => expect(begun).toBe(3));
    const bySystem = shared.run(() => Promise.resolve('done'));
    expect(await bySystem).toBe('done');
    expect(begun).toBe(3);
    release();
    await Promise.all(all);
    // A thousand of them may wait, two of which are in `all`.
    const refused = (await Promise.all(many)).filter((error) => error instanceof BusyError);
    expect(refused).toHaveLength(2);
    expect(begun).toBe(5 + 1_000 - 2);
  } finally {
    await pool.destroy();
  }
});

describe('work after the commit', () => {
  it('runs when others see the changes', async () => {
    let seen: Promise<string[]> | undefined;
    await transactions.run(async () => {
      transactions.afterCommit(() => {
        seen = names();
      });
      await add('one');
      expect(await names()).toEqual([]);
    });
    expect(await seen).toEqual(['one']);
  });

  it('does not run without a commit', async () => {
    let done = 0;
    const work = async () => {
      transactions.afterCommit(() => (done += 1));
      await add('one');
      throw new Error('changed my mind');
    };
    await expect(transactions.run(work)).rejects.toThrow('changed my mind');
    expect([done, await names()]).toEqual([0, []]);
  });

  it('runs once, however often the transaction was retried', async () => {
    let tries = 0;
    let done = 0;
    await transactions.run(async () => {
      tries += 1;
      transactions.afterCommit(() => (done += 1));
      await add(`try ${tries}`);
      if (tries < 3) await transactions.query(FAIL);
    });
    expect([tries, done, await names()]).toEqual([3, 1, ['try 3']]);
  });

  it('runs at once outside a transaction', () => {
    let done = 0;
    transactions.afterCommit(() => (done += 1));
    expect(done).toBe(1);
  });
});
