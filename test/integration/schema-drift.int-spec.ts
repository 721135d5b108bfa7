import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebhooksModule } from '#libs/webhooks';
import { contextOf } from '../support/context.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let context: INestApplicationContext;
let source: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  // It stands on all other contexts, so their entities are there as well.
  context = await contextOf(database, [WebhooksModule]);
  source = context.get(DataSource);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

async function changes(): Promise<string[]> {
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

it('maps every table that TypeORM is to know', () => {
  const mapped = source.entityMetadatas.map(({ tableName }) => tableName).sort();
  expect(mapped).toEqual(['applications', 'credentials', 'environments', 'users', 'webhooks']);
});

it('leaves TypeORM nothing to change in the mapped tables', async () => {
  expect(await changes()).toEqual([]);
});

it.each([
  ['ALTER TABLE webhooks DROP COLUMN hold_until', 'ADD "hold_until"'],
  ['ALTER TABLE applications ADD COLUMN stray text', 'DROP COLUMN "stray"'],
  ['ALTER TABLE webhooks ALTER COLUMN name SET NOT NULL', '"name" DROP NOT NULL'],
  ['DROP INDEX webhooks_cancelling_idx', 'CREATE INDEX "webhooks_cancelling_idx"'],
  ['ALTER TABLE applications DROP CONSTRAINT applications_url_check', 'applications_url_check'],
  ['ALTER TABLE webhooks DROP CONSTRAINT webhooks_account_fkey', 'webhooks_account_fkey'],
  ['ALTER TABLE users DROP CONSTRAINT users_username_key', 'UNIQUE ("username")'],
])('would notice: %s', async (drift, remedy) => {
  await database.query(drift);
  try {
    expect((await changes()).join('\n')).toContain(remedy);
  } finally {
    for (const query of await changes()) await source.query(query);
  }
  expect(await changes()).toEqual([]);
});
