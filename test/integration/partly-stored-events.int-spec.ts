import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database } from '#libs/runtime';
import { createUser } from '../support/accounts.js';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { anAccount } from '../support/rows.js';

let database: TestDatabase;
let app: NestExpressApplication;
let platform: Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { auth } = await createUser(database, 'switch', 'platform');
  accountId = await anAccount(database);
  let base: string;
  ({ app, url: base } = await apiInProcess({ DATABASE_URL: database.url }));
  platform = clientOf(base, auth);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const anEvent = (id: string) => ({ event: 'smsdlr', resource: 'sms', accountId, id, data: {} });
const UNAVAILABLE = { error: 'The service cannot reach its database now.', code: 'unavailable' };

/** Loses the database in each statement that is to fail. */
function loseDatabase(toFail: (name: string | undefined) => boolean) {
  const own = app.get(Database);
  const { run } = own;
  return vi
    .spyOn(own, 'run')
    .mockImplementation((statement, ...given) =>
      toFail(statement.name)
        ? Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' }))
        : run(statement, ...given),
    );
}

it('fails only the repeated events of a group when their keys cannot be read after the commit', async () => {
  const report = (id: string) => platform.post('/v1/events', anEvent(id));
  expect((await report('known')).status).toBe(202);
  const keysAreLost = loseDatabase((name) => name === 'events.keys');

  // The client checks each answer against the description of the API.
  const [repeated, fresh, batch] = await Promise.all([
    report('known'),
    report('fresh'),
    platform.post('/v1/events/batch', { events: [anEvent('known'), anEvent('fresh in a batch')] }),
  ]);
  keysAreLost.mockRestore();

  expect([repeated.status, repeated.headers['retry-after']]).toEqual([503, '5']);
  expect([fresh.status, fresh.json()]).toEqual([
    202,
    expect.objectContaining({ duplicate: false }),
  ]);
  expect(batch.status).toBe(202);
  expect(batch.json()).toEqual({
    results: [UNAVAILABLE, expect.objectContaining({ duplicate: false })],
  });
  expect((await report('known')).json()).toMatchObject({ duplicate: true });
});

it('fails only the events of a batch that come after the connection to the database was lost', async () => {
  const events = Array.from({ length: 1_000 }, (_, number) => anEvent(`of a batch ${number}`));
  let statements = 0;
  const isLost = loseDatabase((name) => name === 'events.accept' && (statements += 1) > 1);
  const batch = await platform.post('/v1/events/batch', { events });
  isLost.mockRestore();

  expect(batch.status).toBe(202);
  const { results } = batch.json<{ results: object[] }>();
  expect(results.slice(0, 500)).toEqual(
    Array(500).fill(expect.objectContaining({ duplicate: false })),
  );
  expect(results.slice(500)).toEqual(Array(500).fill(UNAVAILABLE));
  const again = (await platform.post('/v1/events/batch', { events })).json<object>();
  expect(again).toMatchObject({
    results: events.map((_, number) => ({ duplicate: number < 500 })),
  });
});

it('fails only the events that PostgreSQL refuses for their data, alone and in batches', async () => {
  await database.query(
    `ALTER TABLE events ADD CONSTRAINT refusing CHECK (data NOT LIKE '%refused%') NOT VALID`,
  );
  const refused = (id: string) => ({ ...anEvent(id), data: { text: 'refused' } });
  const events = [anEvent('1st'), refused('2nd'), anEvent('3rd'), refused('4th'), anEvent('5th')];
  const [alone, beside, batch, batchOfOne] = await Promise.all([
    platform.post('/v1/events', refused('alone')),
    platform.post('/v1/events', anEvent('beside')),
    platform.post('/v1/events/batch', { events }),
    platform.post('/v1/events/batch', { events: [refused('batch of one')] }),
  ]);
  await database.query('ALTER TABLE events DROP CONSTRAINT refusing');

  const code = 'internal_error';
  const failed = { error: 'Something went wrong on our side.', code };
  const stored = expect.objectContaining({ duplicate: false }) as unknown;
  expect([alone.status, alone.json()]).toEqual([500, expect.objectContaining({ code })]);
  expect([beside.status, beside.json()]).toEqual([202, stored]);
  expect([batch.status, batch.json()]).toEqual([
    202,
    { results: [stored, failed, stored, failed, stored] },
  ]);
  expect([batchOfOne.status, batchOfOne.json()]).toEqual([202, { results: [failed] }]);
  const again = (await platform.post('/v1/events/batch', { events })).json<object>();
  expect(again).toMatchObject({
    results: [true, false, true, false, true].map((duplicate) => ({ duplicate })),
  });
});
