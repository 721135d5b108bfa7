import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('generates ids that sort by time, and by counter within a statement', async () => {
  const rows = await database.query<{ id: string }>(
    'SELECT new_uuid(now(), n) AS id FROM generate_series(1, 5000) AS n ORDER BY n',
  );
  const ids = rows.map((row) => row.id);
  expect(new Set(ids).size).toBe(5000);
  expect([...ids].sort()).toEqual(ids);
  expect(
    ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toBe(true);
  const at = parseInt(ids[0]!.replaceAll('-', '').slice(0, 12), 16);
  expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
});

it('creates partitions for a week ahead', async () => {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
     WHERE c.relname IN ('events', 'deliveries', 'attempts') AND c.relkind = 'p'`,
  );
  expect(row?.count).toBe(24);
});
