import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let app: NestExpressApplication;
let source: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  // The API has all contexts.
  ({ app } = await apiInProcess({ DATABASE_URL: database.url }));
  source = app.get(DataSource);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** What TypeORM would change, except for indexes and checks, which only the migrations know. */
async function changes(): Promise<string[]> {
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  const unmapped = /^(?:DROP INDEX|ALTER TABLE "\w+" DROP CONSTRAINT "\w+_check")/;
  return upQueries.map(({ query }) => query).filter((query) => !unmapped.test(query));
}

it('maps every table that TypeORM should know', () => {
  const mapped = source.entityMetadatas.map(({ tableName }) => tableName).sort();
  const known = ['applications', 'credentials', 'environments', 'users', 'webhooks'];
  expect(mapped).toEqual(expect.arrayContaining(known));
});

it('leaves TypeORM nothing to change in the mapped tables', async () => {
  expect(await changes()).toEqual([]);
});

it.each([
  ['ALTER TABLE webhooks DROP COLUMN hold_until', 'ADD "hold_until"'],
  ['ALTER TABLE applications ADD COLUMN stray text', 'DROP COLUMN "stray"'],
  ['ALTER TABLE webhooks ALTER COLUMN name SET NOT NULL', '"name" DROP NOT NULL'],
  ['ALTER TABLE webhooks DROP CONSTRAINT webhooks_account_fkey', 'webhooks_account_fkey'],
  ['ALTER TABLE users DROP CONSTRAINT users_username_key', 'UNIQUE ("username")'],
])('detects drift: %s', async (drift, remedy) => {
  await database.query(drift);
  try {
    expect((await changes()).join('\n')).toContain(remedy);
  } finally {
    for (const query of await changes()) await database.query(query);
  }
  expect(await changes()).toEqual([]);
});
