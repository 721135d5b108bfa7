import { afterAll, beforeAll, expect, it } from 'vitest';
import { afterChangesOf } from '../../../../test/support/changed-rows.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { anAccount, aSubscription } from '../../../../test/support/rows.js';
import { dayOf } from './partition-days.js';
import { joinDeliveryByKey } from './row-lookups.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('locks deliveries of several days, also after another transaction has changed some of them', async () => {
  const webhookId = await aSubscription(database, await anAccount(database));
  const days: string[][] = [];
  for (const daysAgo of [4, 5, 6]) {
    await partitionsOf(database, daysAgo);
    days.push(await pastDeliveries(database, webhookId, { daysAgo, count: 40 }));
  }
  // In turns, so that each look-up is of another partition than the one before.
  const ids = days[0]!.flatMap((_, n) => days.map((day) => day[n]!));
  const all = ids.map(dayOf);
  const span = { first: Math.min(...all), last: Math.max(...all) };
  const locked = await afterChangesOf<{ id: string }>(
    database,
    [ids[1]!, ids[50]!, ids[51]!],
    `SELECT d.id FROM unnest($1::uuid[]) AS n(id) ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })}`,
    [ids],
  );
  expect(locked.map(({ id }) => id)).toEqual(ids);
});
