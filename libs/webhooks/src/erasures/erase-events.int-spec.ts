import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { anAccount, aSubscription } from '../../../../test/support/rows.js';

let database: TestDatabase;
let clients: [pg.Client, pg.Client];

beforeAll(async () => {
  database = await createTestDatabase();
  clients = [0, 1].map(() => new pg.Client({ connectionString: database.url })) as typeof clients;
  await Promise.all(clients.map((client) => client.connect()));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
});

it('erases the deliveries of several days, also after a worker has changed some of them', async () => {
  const accountId = await anAccount(database);
  const webhookId = await aSubscription(database, accountId);
  const ids: string[] = [];
  for (const daysAgo of [4, 5, 6]) {
    await partitionsOf(database, daysAgo);
    ids.push(...(await pastDeliveries(database, webhookId, { daysAgo, count: 40 })));
  }
  const [other, own] = clients;
  await other.query('BEGIN');
  await other.query('UPDATE deliveries SET attempts = attempts + 1 WHERE id = ANY ($1)', [
    ids.filter((_, n) => n % 2 === 0),
  ]);
  await own.query(
    `INSERT INTO erasures (id, contains, until, after)
     VALUES (new_uuid(now(), 1), '"n"', now(), '00000000-0000-0000-0000-000000000000')`,
  );
  const erased = own.query<{ done: boolean }>(
    `SELECT erase_events(e.id, ARRAY(SELECT event_id FROM deliveries WHERE id = ANY ($1)), '{}',
       'ffffffff-ffff-ffff-ffff-ffffffffffff') AS done
     FROM erasures e`,
    [ids],
  );
  const waiting = `SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually(
    async () => (await database.query<{ count: number }>(waiting))[0]!.count,
    (count) => count > 0,
  );
  await other.query('COMMIT');
  expect((await erased).rows).toEqual([{ done: true }]);
  const left = 'SELECT count(*)::integer AS left FROM deliveries WHERE erased IS NOT TRUE';
  expect(await database.query(left)).toEqual([{ left: 0 }]);
});
