import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type DatabaseSchema, migrate, migrationOf, readConfig } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  runOn,
  type TestDatabase,
} from '../support/database.js';

/** A migration of a later version. */
const later: DatabaseSchema = {
  migrations: [migrationOf('Later1800000000000', 'ALTER TABLE credentials ADD COLUMN later text')],
  tables: {},
};
const schemas = [...contextSchemas, later];

/**
 * The lock timeout of one migration. A change of a table waits for the lock, and plain reads of
 * that table queue behind it.
 */
const LOCK_TIMEOUT_MS = 2_000;

let database: TestDatabase;
/** Reads a table for a long time, as pg_dump does. */
let dump: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  // Restores the state that the previous version left.
  await database.query('ALTER TABLE credentials DROP COLUMN IF EXISTS later');
  await database.query(`DELETE FROM migrations WHERE name LIKE 'Later%'`);
  dump = new pg.Client({ connectionString: database.url });
  await dump.connect();
  await dump.query('BEGIN');
  await dump.query('LOCK TABLE credentials IN ACCESS SHARE MODE');
});
afterEach(() => dump.end());

it('blocks others for at most two seconds while a table is locked, and tries again', async () => {
  const told: string[] = [];
  let isDone = false as boolean;
  const migrating = migrate(readConfig({ DATABASE_URL: database.url }), schemas, {
    print: (line) => {
      told.push(line);
      if (told.length === 2) void dump.query('COMMIT');
    },
  }).finally(() => (isDone = true));
  let longestMs = 0;
  while (!isDone) {
    const start = performance.now();
    await database.query('SELECT count(*) FROM credentials');
    longestMs = Math.max(longestMs, performance.now() - start);
  }
  expect(await migrating).toEqual(['Later1800000000000']);
  expect(told).toEqual([
    'Another transaction holds a lock that migrate needs; retrying in 1 s.',
    'Another transaction holds a lock that migrate needs; retrying in 2 s.',
  ]);
  expect(longestMs).toBeGreaterThan(LOCK_TIMEOUT_MS / 2);
  expect(longestMs).toBeLessThan(LOCK_TIMEOUT_MS + 1_000);
  await database.query('SELECT later FROM credentials');
});

it('says what to do when it gives up', async () => {
  const config = readConfig({ DATABASE_URL: database.url });
  await expect(migrate(config, schemas, { giveUpAfterMs: 0 })).rejects.toThrow(
    /pg_dump.* run migrate again/,
  );
  await dump.query('COMMIT');
  expect(await migrate(config, schemas)).toHaveLength(1);
});

it('leaves a database alone that is newer than itself', async () => {
  await dump.query('COMMIT');
  const config = readConfig({ DATABASE_URL: database.url, RETENTION_DAYS: '7' });
  await migrate(config, schemas);
  const older = migrate(readConfig({ DATABASE_URL: database.url }), contextSchemas);
  await expect(older).rejects.toThrow(
    /newer than this version, which does not know Later1800000000000/,
  );
  expect(await database.query('SELECT retention_days() AS days')).toEqual([{ days: 7 }]);
});

it('refuses a database of a version before 1.1', async () => {
  const old = await createEmptyDatabase('');
  await runOn(
    old.url,
    `CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name text NOT NULL);
     INSERT INTO migrations (timestamp, name) VALUES (1763700000003, 'Applications1763700000003'),
       (1764010000002, 'AttemptRequests1764010000002')`,
  );
  await expect(migrate(readConfig({ DATABASE_URL: old.url }), contextSchemas)).rejects.toThrow(
    /does not know AttemptRequests1764010000002: run migrate of version 1\.1 first/,
  );
  await old.drop();
});

it('refuses a database of version 1.1 while processes use it', async () => {
  const old = await createEmptyDatabase('');
  const config = readConfig({ DATABASE_URL: old.url });
  await runOn(
    old.url,
    `${imageOf('1.1.0')}; INSERT INTO public.processes (id, kind, version, in_flight) VALUES ('a1', 'worker', '1.1.0', 0)`,
  );
  await expect(migrate(config, contextSchemas)).rejects.toThrow(
    'processes of an earlier version are running (worker a1): stop them, and run migrate again',
  );
  await runOn(old.url, `UPDATE public.processes SET seen_at = now() - interval '36 s'`);
  expect((await migrate(config, contextSchemas)).length).toBeGreaterThan(1);
  await old.drop();
});

it('makes the same tables and functions anew as from version 1.1', async () => {
  const [anew, upgraded] = await Promise.all([
    createTestDatabase(),
    createTestDatabase({}, imageOf('1.1.0')),
  ]);
  try {
    expect(await schemaOf(upgraded)).toEqual(await schemaOf(anew));
  } finally {
    await Promise.all([anew.drop(), upgraded.drop()]);
  }
});

it('replaces the functions of an earlier version, and keeps who may call them', async () => {
  await dump.query('COMMIT');
  const define =
    'tell_of_webhook(about bigint, kind text, since timestamptz, disables_at timestamptz)';
  const functions = () =>
    database.query<{ source: string }>(
      `SELECT prosrc AS source, proacl AS rights, proconfig AS settings FROM pg_proc
       WHERE proname IN ('tell_of_webhook', 'forget_webhooks', 'is_old_partition') ORDER BY proname`,
    );
  const present = await functions();
  expect(present).toHaveLength(3);
  await database.query(
    `CREATE OR REPLACE FUNCTION ${define} RETURNS json LANGUAGE sql SECURITY DEFINER AS 'SELECT NULL::json'`,
  );
  expect(await functions()).not.toEqual(present);
  await migrate(readConfig({ DATABASE_URL: database.url }), schemas);
  expect(await functions()).toEqual(present);
});

it.each(['LATIN1', 'SQL_ASCII', 'EUC_JP'])(
  'refuses a database in %s, and names the encoding',
  async (encoding) => {
    const other = await createEmptyDatabase(`ENCODING '${encoding}' LOCALE 'C'`);
    await expect(migrate(readConfig({ DATABASE_URL: other.url }), contextSchemas)).rejects.toThrow(
      `the encoding of the database is ${encoding}, and has to be UTF8`,
    );
    expect(await tablesOf(other.url)).toEqual([]);
    await other.drop();
  },
);

it('refuses a database without the language of its functions', async () => {
  const other = await createEmptyDatabase(`ENCODING 'UTF8' LOCALE 'C'`);
  await runOn(other.url, 'DROP EXTENSION plpgsql');
  await expect(migrate(readConfig({ DATABASE_URL: other.url }), contextSchemas)).rejects.toThrow(
    'the database lacks the language plpgsql',
  );
  expect(await tablesOf(other.url)).toEqual([]);
  await other.drop();
});

/** What a released version stored (`npm run release:image`). */
function imageOf(version: string): string {
  const url = new URL(`../upgrade/${version}.sql.gz`, import.meta.url);
  return gunzipSync(readFileSync(url)).toString('utf8');
}

/** Columns, indexes, constraints, functions and triggers, without the order of columns. Partitions are those of their days. */
async function schemaOf({ query }: TestDatabase): Promise<unknown[]> {
  const ofTables = `c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition`;
  return Promise.all(
    [
      `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
         pg_get_expr(d.adbin, d.adrelid) AS "default", c.reloptions
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
       WHERE c.relkind IN ('r', 'p') AND ${ofTables} AND c.relname !~ '_[0-9]{8}$' ORDER BY 1, 2`,
      `SELECT pg_get_indexdef(c.oid) AS index FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
       WHERE ${ofTables} AND c.relname !~ '_[0-9]{8}_' ORDER BY 1`,
      `SELECT c.relname, k.conname, pg_get_constraintdef(k.oid) AS definition
       FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
       WHERE ${ofTables} AND c.relname !~ '_[0-9]{8}$' ORDER BY 1, 2`,
      `SELECT pg_get_functiondef(oid) AS function, has_function_privilege('public', oid, 'EXECUTE') AS "isPublic"
       FROM pg_proc
       WHERE pronamespace = current_schema()::regnamespace ORDER BY 1`,
      `SELECT pg_get_triggerdef(t.oid) AS trigger, t.tgenabled FROM pg_trigger t
         JOIN pg_class c ON c.oid = t.tgrelid
       WHERE ${ofTables} AND NOT t.tgisinternal ORDER BY 1`,
    ].map((sql) => query(sql)),
  );
}

const tablesOf = (url: string) => runOn(url, `SELECT FROM pg_tables WHERE schemaname = 'public'`);

it('lets running replays of version 1.1 go on after an upgrade', async () => {
  const idOf = (end: string) => `'019a0b1c-2d3e-7f40-8a51-b26c73d84e${end}'`;
  const upgraded = await createTestDatabase(
    {},
    `${imageOf('1.1.0')};
     INSERT INTO public.replays (id, webhook_id, account_id, generation, since, until, states, state, total, replayed,
       after)
     SELECT id::uuid, webhook_id, 7, generation, now(), now(), '{exhausted}', state, 5, 2, id::uuid
     FROM (VALUES (${idOf('01')}, 1, 3, 'running'), (${idOf('02')}, NULL, NULL, 'running'),
       (${idOf('03')}, NULL, NULL, 'running'), (${idOf('04')}, 1, 3, 'completed')) r(id, webhook_id, generation, state);
     INSERT INTO public.replay_parts (replay_id, webhook_id, generation, after)
     SELECT ${idOf('02')}, n, 1, ${idOf('01')} FROM generate_series(1, 2) n`,
  );
  try {
    const replays = await upgraded.query('SELECT state, parts FROM replays ORDER BY id');
    expect(replays).toEqual([
      { state: 'running', parts: 1 },
      { state: 'running', parts: 2 },
      { state: 'completed', parts: 1 },
      { state: 'completed', parts: 1 },
    ]);
    const parts = await upgraded.query(
      `SELECT right(replay_id::text, 2) AS of, webhook_id, account_id, generation, right(after::text, 2) AS after, remaining
       FROM replay_parts ORDER BY replay_id, webhook_id`,
    );
    const rest = { account_id: '7', after: '01' };
    expect(parts).toEqual([
      { of: '01', webhook_id: '1', generation: 3, remaining: 3, ...rest },
      { of: '02', webhook_id: '1', generation: 1, remaining: 0, ...rest },
      { of: '02', webhook_id: '2', generation: 1, remaining: 0, ...rest },
    ]);
  } finally {
    await upgraded.drop();
  }
});
