import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asRole } from '../support/environment.js';
import { clientOf, send } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { launch } from '../support/processes.js';
import { startReceiver } from '../support/receiver.js';
import { aSubscription, anAccount } from '../support/rows.js';

let database: TestDatabase;
let running: Running[] = [];

const migrateSchema = (DATABASE_SCHEMA: string, variables = {}) =>
  migrate(
    readConfig({ DATABASE_URL: database.url, DATABASE_SCHEMA, ...variables }),
    contextSchemas,
  );

beforeAll(async () => {
  database = await createTestDatabase({ DATABASE_SCHEMA: 'one' });
  await migrateSchema('two');
});
afterAll(async () => {
  for (const each of running) await each.stop();
  running = [];
  await database.drop();
});

it('accepts and delivers with the tables of its schema', async () => {
  const receiver = await startReceiver();
  const { auth } = await createUser(database, 'switch', 'platform');
  const account = await anAccount(database);
  await aSubscription(database, account, { target_url: receiver.url });
  const environment = { DATABASE_URL: database.url, DATABASE_SCHEMA: 'one' };
  const api = await apiInProcess(environment);
  const worker = await workerInProcess({
    ...environment,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  running = [worker, api];
  const event = { event: 'cdrCreated', resource: 'call', accountId: account, data: { n: 1 } };
  const { status } = await clientOf(api.url, auth).post('/v1/events', event);
  expect(status).toBe(202);
  await receiver.until((received) => received.length === 1);
  for (const { url } of running) {
    expect((await send('GET', `${url}/health/ready`)).status).toBe(200);
  }
  await receiver.close();
});

it('is not ready while the search_path of its role leads to another schema', async () => {
  const api = await launch('api', { DATABASE_URL: database.url, DATABASE_SCHEMA: 'two' });
  running.push(api);
  const reason = 'the setting search_path of PostgreSQL is "one", and has to have the schema "two"';
  await eventually(
    () => send('GET', `${api.url}/health/ready`).catch(() => undefined),
    (answer) => answer?.status === 503 && answer.json().reason === reason,
  );
});

describe('migrate', () => {
  const count = async (schema: string) => {
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM pg_class WHERE relnamespace = $1::regnamespace',
      [schema],
    );
    return row?.count;
  };

  it('puts everything into the schema', async () => {
    expect(await count('public')).toBe(0);
    expect(await count('one')).toBeGreaterThan(100);
    expect(await count('two')).toBe(await count('one'));
  });

  it('leaves other schemas alone', async () => {
    await migrateSchema('two', { RETENTION_DAYS: '7' });
    expect(
      await database.query('SELECT one.retention_days() AS one, two.retention_days() AS two'),
    ).toEqual([{ one: 30, two: 7 }]);
  });

  it('refuses roles whose search_path leads to another schema, and creates nothing', async () => {
    const { username } = new URL(asRole(database.url, 'api'));
    await expect(migrateSchema('three', { DATABASE_API_ROLE: username })).rejects.toThrow(
      `configuration: DATABASE_SCHEMA: the role ${username} has the search_path "one"`,
    );
    expect(await database.query(`SELECT to_regnamespace('three') AS made`)).toEqual([
      { made: null },
    ]);
  });
});

it('makes partitions while an installation in another schema does so', async () => {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN; SELECT two.ensure_partitions(1)');
  await database.query(`SET lock_timeout = '1s'; SELECT one.ensure_partitions(1)`);
  await other.end();
});
