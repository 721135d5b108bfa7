import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, readConfig } from '#libs/runtime';
import { ROOT } from '#tools/settings';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anAccount } from '../support/rows.js';

/** 5 · 2^43 + 1, and 6 · 2^43 + 1. */
const FIRST_OF_5 = '43980465111041';
const FIRST_OF_6 = '52776558133249';
const ADVANCE_IDS = readFileSync(`${ROOT}/tools/database/advance-ids.sql`, 'utf8');
const TABLES = ['applications', 'credentials', 'environments', 'links', 'users', 'webhooks'];

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ INSTALLATION_GROUP: '5' });
});
afterEach(() => database.drop());

const migrateAs = (INSTALLATION_GROUP?: string) =>
  migrate(readConfig({ DATABASE_URL: database.url, INSTALLATION_GROUP }), contextSchemas);

const sequences = () =>
  database.query<{ name: string; start: string }>(
    `SELECT replace(sequencename, '_id_seq', '') AS name, start_value, last_value FROM pg_sequences
     WHERE sequencename <> 'migrations_id_seq' ORDER BY 1`,
  );

/** Imports a user. */
const importUser = (id: string) =>
  database.query(
    `INSERT INTO users (id, username, role, status, salt) VALUES ($1, $2, 'account', 'active', '')`,
    [id, `imported-${id}`],
  );

it('gives ids of the range of its group, of each kind', async () => {
  expect((await sequences()).map(({ name }) => name)).toEqual(TABLES);
  for (const table of TABLES) {
    const [row] = await database.query(`SELECT nextval('${table}_id_seq') AS next`);
    expect([table, row]).toEqual([table, { next: FIRST_OF_5 }]);
  }
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

it('refuses to go back to a smaller group', async () => {
  const before = await sequences();
  await expect(migrateAs('4')).rejects.toThrow(
    'configuration: INSTALLATION_GROUP: must be at least 5, the group of the ids in this database',
  );
  expect(await sequences()).toEqual(before);
});

it('stays in its group when migrate runs without the setting', async () => {
  await migrateAs(undefined);
  expect(await anAccount(database)).toBe(FIRST_OF_5);
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

it('skips a million ids of its range after a restore', async () => {
  await database.query(ADVANCE_IDS);
  for (const table of TABLES) {
    const [row] = await database.query(`SELECT nextval('${table}_id_seq') AS next`);
    expect([table, row]).toEqual([table, { next: '43980466111042' }]);
  }
});

it('refuses to skip ids in a schema without tables', async () => {
  await expect(database.query(`SET search_path = pg_catalog; ${ADVANCE_IDS}`)).rejects.toThrow(
    'PGOPTIONS=--search_path',
  );
});
