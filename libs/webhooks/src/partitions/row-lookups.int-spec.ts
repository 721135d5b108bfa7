import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { anAccount, aSubscription } from '../../../../test/support/rows.js';
import { dayOf } from './partition-days.js';
import { joinDeliveryByKey } from './row-lookups.js';

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
  const [other, own] = clients;
  await other.query('BEGIN');
  await other.query('UPDATE deliveries SET attempts = attempts + 1 WHERE id = ANY ($1)', [
    [ids[1], ids[50], ids[51]],
  ]);
  const locked = own.query<{ id: string }>(
    `SELECT d.id FROM unnest($1::uuid[]) AS n(id) ${joinDeliveryByKey('n.id', { lock: 'FOR UPDATE', span })}`,
    [ids],
  );
  const waiting = `SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually(
    async () => (await database.query<{ count: number }>(waiting))[0]!.count,
    (count) => count > 0,
  );
  await other.query('COMMIT');
  expect((await locked).rows.map(({ id }) => id)).toEqual(ids);
});
