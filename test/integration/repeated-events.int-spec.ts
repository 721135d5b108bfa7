import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database } from '#libs/kernel';
import { createUser } from '../support/accounts.js';
import { apiInProcess } from '../support/api-in-process.js';
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
  ({ app, base } = await apiInProcess(database));
  platform = clientOf(base, auth);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

it('fails only the repeated events of a group when their keys cannot be read after the commit', async () => {
  const anEvent = (id: string) => ({ event: 'smsdlr', resource: 'sms', accountId, id, data: {} });
  const report = (id: string) => platform.post('/v1/events', anEvent(id));
  expect((await report('known')).status).toBe(202);
  const own = app.get(Database);
  const run = own.run.bind(own);
  const keysAreLost = vi
    .spyOn(own, 'run')
    .mockImplementation((statement, values) =>
      statement.name === 'events.keys'
        ? Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' }))
        : run(statement, values),
    );

  // The client compares each answer with the description of the API.
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
    results: [
      { error: 'The service cannot reach its database now.', code: 'unavailable' },
      expect.objectContaining({ duplicate: false }),
    ],
  });
  expect((await report('known')).json()).toMatchObject({ duplicate: true });
});
