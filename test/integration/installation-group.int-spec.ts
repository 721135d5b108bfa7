import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, readConfig } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anAccount, anApplication, aSubscription } from '../support/rows.js';

/** 5 · 2^43 + 1, and 6 · 2^43 - 1. */
const FIRST_OF_5 = '43980465111041';
const LAST_OF_5 = '52776558133247';
const FIRST_OF_6 = '52776558133249';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ INSTALLATION_GROUP: '5' });
});
afterEach(() => database.drop());

const migrateAs = (INSTALLATION_GROUP?: string) =>
  migrate(readConfig({ DATABASE_URL: database.url, INSTALLATION_GROUP }), contextSchemas);

const sequences = () =>
  database.query<{ name: string; min: string; max: string }>(
    `SELECT sequencename AS name, start_value AS start, min_value AS min, max_value AS max, last_value AS last
     FROM pg_sequences WHERE sequencename <> 'migrations_id_seq' ORDER BY 1`,
  );

/** Imports a user. */
const importUser = (id: string) =>
  database.query(
    `INSERT INTO users (id, username, role, status, salt) VALUES ($1, $2, 'account', 'active', '')`,
    [id, `imported-${id}`],
  );

it('gives ids of the range of its group', async () => {
  const account = await anAccount(database);
  const application = await anApplication(database, account);
  const webhook = await aSubscription(database, account);
  expect([account, application, webhook]).toEqual([FIRST_OF_5, FIRST_OF_5, FIRST_OF_5]);
  expect((await sequences()).map(({ name, min, max }) => [name, min, max])).toEqual(
    ['applications', 'credentials', 'environments', 'users', 'webhooks'].map((table) => [
      `${table}_id_seq`,
      FIRST_OF_5,
      LAST_OF_5,
    ]),
  );
});

it('changes nothing when migrate runs again', async () => {
  await anAccount(database);
  const before = await sequences();
  await migrateAs('5');
  expect(await sequences()).toEqual(before);
});

it('keeps its ids, and gives new ones of a greater group', async () => {
  const account = await anAccount(database);
  await migrateAs('6');
  expect(await anAccount(database)).toBe(FIRST_OF_6);
  expect(await database.query('SELECT id FROM users ORDER BY id')).toEqual([
    { id: account },
    { id: FIRST_OF_6 },
  ]);
});

it.each([undefined, '0', '4'])('refuses to go back to the group %j', async (group) => {
  const before = await sequences();
  await expect(migrateAs(group)).rejects.toThrow(
    'configuration: INSTALLATION_GROUP: must not be less than 5, the group of the ids in this database',
  );
  expect(await sequences()).toEqual(before);
});

it('refuses a group of which it already has ids', async () => {
  await importUser(FIRST_OF_6);
  const before = await sequences();
  await expect(migrateAs('6')).rejects.toThrow(
    'configuration: INSTALLATION_GROUP: must be another group: users already has ids of group 6',
  );
  expect(await sequences()).toEqual(before);
});

it('continues after imported ids of its own range only', async () => {
  const importAll = async (...ids: string[]) => {
    for (const id of ids) await importUser(id);
    await database.query('SELECT raise_user_ids()');
  };
  await importAll('7', FIRST_OF_6);
  expect(await anAccount(database)).toBe(FIRST_OF_5);
  await importAll('43980465112000');
  expect(await anAccount(database)).toBe('43980465112001');
});
