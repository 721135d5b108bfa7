import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate, readConfig } from '#libs/kernel';
import { testDatabaseUrl } from './environment.js';

/** A database of a test file's own, migrated. */
export interface TestDatabase {
  url: string;
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;
  drop: () => Promise<void>;
}

/** Creates a database that nothing else uses; {@link TestDatabase.drop} ends it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = testDatabaseUrl();
  const name = `switchhook_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${name}`);
  const own = new URL(admin);
  own.pathname = `/${name}`;
  const url = own.toString();
  await migrate(readConfig({ DATABASE_URL: url, REDIS_URL: 'redis://unused' }));
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  pool.on('error', () => undefined);
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    drop: async () => {
      await pool.end();
      await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };

  async function asAdmin(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: admin.toString() });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
