import { afterAll, beforeAll, expect, it } from 'vitest';
import { afterChangesOf } from '../../../../test/support/changed-rows.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { anAccount, aSubscription } from '../../../../test/support/rows.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('erases the deliveries of several days, also after a worker has changed some of them', async () => {
  const webhookId = await aSubscription(database, await anAccount(database));
  const ids: string[] = [];
  for (const daysAgo of [4, 5, 6]) {
    await partitionsOf(database, daysAgo);
    ids.push(...(await pastDeliveries(database, webhookId, { daysAgo, count: 40 })));
  }
  await database.query(
    `INSERT INTO erasures (id, contains, until, after)
     VALUES (new_uuid(now(), 1), '"n"', now(), '00000000-0000-0000-0000-000000000000')`,
  );
  const everySecond = ids.filter((_, n) => n % 2 === 0);
  const erased = await afterChangesOf(
    database,
    everySecond,
    `SELECT erase_events(e.id, ARRAY(SELECT event_id FROM deliveries WHERE id = ANY ($1)), '{}',
       'ffffffff-ffff-ffff-ffff-ffffffffffff') AS done
     FROM erasures e`,
    [ids],
  );
  expect(erased).toEqual([{ done: true }]);
  const left = 'SELECT count(*)::integer AS left FROM deliveries WHERE erased IS NOT TRUE';
  expect(await database.query(left)).toEqual([{ left: 0 }]);
});
