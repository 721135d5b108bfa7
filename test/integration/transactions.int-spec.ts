import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database, Log, Metrics, readConfig, Transactions, UnavailableError } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const QUERY_TIMEOUT_MS = 200;

let database: TestDatabase;
let source: DataSource;
let statements: Database;
let transactions: Transactions;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('CREATE TABLE things (name text)');
  // One connection: what is wrong with it, the next statement meets.
  source = await new DataSource({
    type: 'postgres',
    url: database.url,
    poolSize: 1,
    extra: { query_timeout: QUERY_TIMEOUT_MS },
    poolErrorHandler: () => undefined,
  }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  statements = new Database(source, new Metrics(), new Log(config, 'test'), config);
  transactions = new Transactions(source);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(() => database.query('DELETE FROM things'));

const add = (name: string) => transactions.manager.query(insertion.text, [name]);
const insertion = { text: 'INSERT INTO things VALUES ($1)' };
const names = async () =>
  (await database.query<{ name: string }>('SELECT name FROM things')).map(({ name }) => name);

it('leaves no transaction open on a connection whose statement took too long', async () => {
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
  await statements.query(insertion, ['next']);
  expect(await names()).toEqual(['next']);
});
