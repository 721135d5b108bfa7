import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, readConfig, runtimeSchema } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asRole, testDatabaseUrl } from '../support/environment.js';
import { partitionsOf } from '../support/past.js';
import { aSubscription, anAccount } from '../support/rows.js';

const DAYS = 3;
const REFUSED = '42501';

let database: TestDatabase;
let today: string;

beforeAll(async () => {
  database = await createTestDatabase({ RETENTION_DAYS: String(DAYS) });
  await aSubscription(database, await anAccount(database));
  const [row] = await database.query<{ today: string }>(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS today`,
  );
  today = row!.today;
});
afterAll(() => database.drop());

type Role = Parameters<typeof asRole>[1];

/** Runs statements on one connection with the role of a process. */
function as(role: Role, ...statements: string[]): Promise<void> {
  return run(asRole(database.url, role), statements);
}

/** Runs statements as the administrator of the server. */
function asAdmin(...statements: string[]): Promise<void> {
  const url = testDatabaseUrl();
  url.pathname = new URL(database.url).pathname;
  return run(url.toString(), statements);
}

async function run(connectionString: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const names = async (sql: string) =>
  (await database.query<{ name: string }>(sql)).map(({ name }) => name);

describe('the schema of each context', () => {
  const why = 'what may API and worker do with each of these? Say it in the schema of its context';
  const schemas = [runtimeSchema, ...contextSchemas];

  it('decides the rights to every table', async () => {
    const tables = await names(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
         AND relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition ORDER BY relname COLLATE "C"`,
    );
    expect(tables, why).toEqual(schemas.flatMap(({ tables }) => Object.keys(tables)).sort());
  });

  it('decides who may call each security-definer function, and no other role may', async () => {
    const functions = await database.query<{ name: string; path: string; open: boolean }>(
      `SELECT oid::regprocedure AS name, proconfig::text AS path,
         has_function_privilege('public', oid, 'EXECUTE') AS open
       FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef
       ORDER BY oid::regprocedure::text COLLATE "C"`,
    );
    expect(
      functions.map(({ name }) => name),
      why,
    ).toEqual(schemas.flatMap(({ functions = {} }) => Object.keys(functions)).sort());
    for (const { path, open } of functions) {
      expect([path, open]).toEqual([expect.stringContaining('search_path=public, pg_temp'), false]);
    }
  });

  it('grants the roles exactly these rights after each migrate', async () => {
    const rights = () =>
      names(
        `SELECT relname || ' ' || coalesce(relacl::text, '') || ' '
           || coalesce((SELECT string_agg(attname || attacl::text, ' ' ORDER BY attname)
             FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL), '') AS name
         FROM pg_class c
         WHERE relname = ANY ('{events,attempts,users,applications_id_seq}') ORDER BY relname`,
      );
    const before = await rights();
    const role = new URL(asRole(database.url, 'worker')).username;
    await database.query(`GRANT DELETE ON events TO ${role}`);
    await database.query(`GRANT UPDATE (role) ON users TO ${role}`);
    await database.query(`GRANT UPDATE ON SEQUENCE applications_id_seq TO ${role}`);
    await database.query(`REVOKE INSERT ON attempts FROM ${role}`);
    expect(await rights()).not.toEqual(before);
    await migrateAs({ DATABASE_WORKER_ROLE: role });
    expect(await rights()).toEqual(before);
  });
});

function migrateAs(variables: Record<string, string>): Promise<string[]> {
  const RETENTION_DAYS = String(DAYS);
  return migrate(
    readConfig({ DATABASE_URL: database.url, RETENTION_DAYS, ...variables }),
    contextSchemas,
  );
}

describe('migrate', () => {
  it.each(['DATABASE_API_ROLE', 'DATABASE_WORKER_ROLE'])(
    'refuses a %s that does not exist or owns the tables, and names the variable',
    async (variable) => {
      await expect(migrateAs({ [variable]: 'nobody' })).rejects.toThrow(
        `configuration: ${variable}: there is no such role`,
      );
      const owner = new URL(database.url).username;
      await expect(migrateAs({ [variable]: owner })).rejects.toThrow(
        `configuration: ${variable}: must not be a superuser`,
      );
    },
  );

  it('gives a shared role the rights of both processes', async () => {
    const role = new URL(asRole(database.url, 'api')).username;
    await migrateAs({ DATABASE_API_ROLE: role, DATABASE_WORKER_ROLE: role });
    await as('api', `DELETE FROM event_keys`, `SELECT FROM users`, 'SELECT forget_webhooks(1, 0)');
    await migrateAs({ DATABASE_API_ROLE: role });
    await expect(as('api', 'DELETE FROM event_keys')).rejects.toMatchObject({ code: REFUSED });
  });

  it('revokes temporary tables from everyone if it owns the database, and otherwise changes nothing', async () => {
    const { username: owner, pathname } = new URL(database.url);
    const name = pathname.slice(1);
    const role = new URL(asRole(database.url, 'worker')).username;
    const make = () => as('worker', 'CREATE TEMPORARY TABLE mine ()');
    await asAdmin(
      `ALTER DATABASE ${name} OWNER TO CURRENT_USER`,
      `GRANT CREATE ON SCHEMA public TO ${owner}`,
      `GRANT TEMPORARY ON DATABASE ${name} TO PUBLIC, ${role}`,
    );
    await migrateAs({ DATABASE_WORKER_ROLE: role });
    await make();
    await asAdmin(`ALTER DATABASE ${name} OWNER TO ${owner}`);
    await migrateAs({});
    await make();
    await migrateAs({ DATABASE_WORKER_ROLE: role });
    await expect(make()).rejects.toMatchObject({ code: REFUSED });
  });
});

const ALIKE: [what: string, statement: () => string][] = [
  ['drop a table', () => 'DROP TABLE users'],
  ['drop a partition', () => `DROP TABLE events_${today}`],
  ['detach a partition', () => `ALTER TABLE events DETACH PARTITION events_${today}`],
  ['empty a table', () => 'TRUNCATE attempts'],
  ['add a column', () => 'ALTER TABLE webhooks ADD COLUMN mine text'],
  ['disable triggers', () => 'ALTER TABLE webhooks DISABLE TRIGGER ALL'],
  ['bypass triggers', () => `SET session_replication_role = 'replica'`],
  ['take ownership of a table', () => 'ALTER TABLE webhooks OWNER TO CURRENT_USER'],
  ['create a table', () => 'CREATE TABLE mine ()'],
  ['create a temporary table', () => 'CREATE TEMPORARY TABLE mine ()'],
  ['create a function', () => 'CREATE FUNCTION mine() RETURNS integer LANGUAGE sql RETURN 1'],
  ['replace a function', () => FOREVER_YOUNG],
  ['create a role', () => 'CREATE ROLE mine'],
  ['become the owner', () => `SET ROLE ${new URL(database.url).username}`],
  ['read the passwords of roles', () => 'SELECT FROM pg_authid'],
  ['read files', () => `SELECT pg_read_file('postgresql.conf')`],
  ['run programs', () => `COPY (SELECT 1) TO PROGRAM 'true'`],
  ['read a partition by its name', () => `SELECT FROM attempts_${today}`],
  ['change reported events', () => `UPDATE events SET data = '{}'`],
  ['delete events', () => 'DELETE FROM events'],
  ['delete deliveries', () => 'DELETE FROM deliveries'],
  ['move a delivery to another account', () => 'UPDATE deliveries SET account_id = 1'],
  ['change recorded attempts', () => 'UPDATE attempts SET status = 200'],
  ['delete recorded attempts', () => 'DELETE FROM attempts'],
  ['make a user a platform user', () => `UPDATE users SET role = 'platform'`],
  ['change a password', () => `UPDATE credentials SET hash = ''`],
  ['delete users', () => 'DELETE FROM users'],
  ['forge the user of an audit entry', () => forged(`user_id`, `'-1'`)],
  ['reset the sequence of application ids', () => `SELECT setval('applications_id_seq', 1)`],
  ['delete a migration record', () => 'DELETE FROM migrations'],
];
/** An audit entry with one more column. */
const forged = (column: string, value: string) =>
  `INSERT INTO audit (actor, action, resource_id, ${column}) VALUES ('demo', 'a.b', '1', ${value})`;
const FOREVER_YOUNG = `CREATE OR REPLACE FUNCTION retention_days() RETURNS integer
  LANGUAGE sql STABLE RETURN -3`;

const OF_API: typeof ALIKE = [
  ['insert attempts', () => 'INSERT INTO attempts SELECT FROM attempts'],
  [
    'move an idempotency key to another account',
    () => 'UPDATE idempotency_keys SET account_id = 1',
  ],
  ['change the number of attempts', () => 'UPDATE deliveries SET attempts = 0'],
  ['delete the keys of producers', () => 'DELETE FROM event_keys'],
  ['remove partitions', () => `SELECT detach_partition('events_${today}')`],
  ['drop a detached partition', () => `SELECT drop_partition('events_${today}')`],
];

const OF_WORKER: typeof ALIKE = [
  ['forge an audit entry of a user', () => forged('user_id', `'1'`)],
  ['read users', () => 'SELECT FROM users'],
  ['read passwords', () => 'SELECT FROM credentials'],
  ['read applications', () => 'SELECT FROM applications'],
  ['create subscriptions', () => 'INSERT INTO webhooks SELECT FROM webhooks'],
  ['change the target of a subscription', () => `UPDATE webhooks SET target_url = 'http://mine/'`],
  ['change a signing secret', () => `UPDATE webhooks SET secret = 'mine'`],
  ['give a subscription to another account', () => 'UPDATE webhooks SET account_id = 1'],
  [
    'change the answer to a repeated request',
    () => `UPDATE idempotency_keys SET href = 'http://mine/'`,
  ],
  ['report events', () => 'INSERT INTO events SELECT FROM events'],
  ['advance the sequence of application ids', () => 'SELECT raise_application_ids()'],
  ['create deliveries', () => 'INSERT INTO deliveries SELECT FROM deliveries'],
];

describe.each<[Role, typeof ALIKE]>([
  ['api', [...ALIKE, ...OF_API]],
  ['worker', [...ALIKE, ...OF_WORKER]],
])('the role of the %s', (role, statements) => {
  it.each(statements)('cannot %s', async (_what, statement) => {
    await expect(as(role, statement())).rejects.toMatchObject({ code: REFUSED });
  });
});

it('the database sets author and time of an audit entry, whatever the statement claims', async () => {
  const account = await anAccount(database);
  const [user] = await database.query<{ name: string }>(
    'SELECT username AS name FROM users WHERE id = $1',
    [account],
  );
  const entry = (resource: string, actor: string, userId = 'NULL') =>
    `INSERT INTO audit (id, created_at, actor, user_id, address, action, resource_id)
     VALUES (new_uuid('2001-01-01', 1), '2001-01-01', '${actor}', ${userId}, '192.0.2.1', 'a.b',
       '${resource}')`;
  await as('api', entry('of-user', 'admin', account));
  await as('api', entry('of-api', 'admin'));
  await as('api', entry('of-command-line', 'cli'));
  await as('worker', entry('of-worker', 'cli'));
  const rows = await database.query<Record<string, unknown>>(
    `SELECT resource_id, actor, address, created_at > now() - interval '1 minute' AS is_now,
       id > least_uuid(created_at - interval '2 ms')
         AND id < least_uuid(created_at + interval '2 ms') AS has_its_id
     FROM audit WHERE resource_id LIKE 'of-%' ORDER BY id`,
  );
  const truth = { is_now: true, has_its_id: true };
  expect(rows).toEqual([
    { resource_id: 'of-user', actor: user!.name, address: '192.0.2.1', ...truth },
    { resource_id: 'of-api', actor: 'system', address: null, ...truth },
    { resource_id: 'of-command-line', actor: 'cli', address: null, ...truth },
    { resource_id: 'of-worker', actor: 'system', address: null, ...truth },
  ]);
});

it('the worker cannot report an event of the platform as a notice', async () => {
  const [webhook] = await database.query<{ id: string }>('SELECT id FROM webhooks LIMIT 1');
  const account = 'SELECT account_id FROM webhooks WHERE id = $1';
  const copy = `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
    VALUES ((${account}), $2, 'all', 'http://target.example/', true, '')`;
  for (const kind of ['smsdlr', 'webhookFailing']) await database.query(copy, [webhook!.id, kind]);
  const tell = (kind: string) => `SELECT tell_of_webhook(${webhook!.id}, '${kind}', now(), now())`;
  await as('worker', tell('smsdlr'), tell('webhookFailing'));
  await expect(as('api', tell('webhookFailing'))).rejects.toMatchObject({ code: REFUSED });
  expect(await database.query('SELECT event FROM events')).toEqual([{ event: 'webhookFailing' }]);
});

it('the worker can send missed events only for a running replay of them, and of its account', async () => {
  const [account, other] = [await anAccount(database), await anAccount(database)];
  const webhook = await aSubscription(database, account);
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(now(), n), account, 'cdrCreated', 'call', now(), now(), '{}'
     FROM unnest($1::bigint[]) WITH ORDINALITY AS a(account, n)`,
    [[account, other]],
  );
  const replay = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
  await database.query(
    `INSERT INTO replays (id, webhook_id, account_id, since, until, states, total, missed)
     VALUES ($1, $2, $3, now(), now(), '{}', 1, true)`,
    [replay, webhook, account],
  );
  const deliver = () =>
    as('worker', `SELECT deliver_missed('${replay}', ${webhook}, ARRAY(SELECT id FROM events))`);
  const made = () =>
    names(`SELECT account_id AS name FROM deliveries WHERE webhook_id = ${webhook}`);
  for (const change of [`state = 'cancelled'`, `missed = false`, `webhook_id = webhook_id + 1`]) {
    await database.query(`UPDATE replays SET ${change}`);
    await deliver();
    expect([change, await made()]).toEqual([change, []]);
    await database.query(
      `UPDATE replays SET state = 'running', missed = true, webhook_id = ${webhook}`,
    );
  }
  for (let times = 0; times < 2; times += 1) {
    await deliver();
    expect(await made()).toEqual([account]);
  }
});

it('the worker can recover a subscription only for a running recovery, once, and if its time affected it', async () => {
  const account = await anAccount(database);
  const [affected, failing] = [
    await aSubscription(database, account, { failing_since: new Date(Date.now() - 600_000) }),
    await aSubscription(database, account, { failing_since: new Date(Date.now() - 86_400_000) }),
  ];
  const id = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
  const recover = (webhook: string) =>
    as('worker', `SELECT recover_webhook('${id}', ${webhook}, 0, 0)`);
  const healed = () =>
    names(
      `SELECT id AS name FROM webhooks WHERE account_id = ${account} AND failing_since IS NULL`,
    );
  await recover(affected);
  await database.query(
    `INSERT INTO recoveries (id, since, until, user_id, visited_at)
     VALUES ($1, now() - interval '1 hour', now(), $2, now())`,
    [id, account],
  );
  await recover(affected);
  expect(await healed()).toEqual([]);
  await database.query('UPDATE recoveries SET visited_at = NULL');
  for (const webhook of [affected, affected, failing]) await recover(webhook);
  expect(await healed()).toEqual([affected]);
  const entries = `SELECT user_id::text AS name FROM audit WHERE action = 'webhook.recover' AND resource_id = '${affected}'`;
  expect(await names(entries)).toEqual([account]);
  await expect(as('api', `SELECT recover_webhook('${id}', 1, 0, 0)`)).rejects.toMatchObject({
    code: REFUSED,
  });
});

it('the worker can empty events only for a running erasure of their account, and only what was accepted before it', async () => {
  const [account, other] = [await anAccount(database), await anAccount(database)];
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(now(), n), account, 'smsdlr', 'sms', now(), at, '{"n":1}'
     FROM (VALUES (1, $1::bigint, now()), (2, $2::bigint, now()), (3, $1::bigint, now() + interval '1 minute')) v(n, account, at)`,
    [account, other],
  );
  const erasure = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
  const events = `ARRAY(SELECT id FROM events WHERE event = 'smsdlr')`;
  const erase = () =>
    as(
      'worker',
      `SELECT erase_events('${erasure}', ${events}, ${events}, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`,
    );
  const erased = () =>
    names(`SELECT account_id AS name FROM events WHERE event = 'smsdlr' AND data = '{}'`);
  await erase();
  await database.query(
    `INSERT INTO erasures (id, account_id, contains, until, after, completed_at)
     VALUES ($1, $2, 'text', now() + interval '1 s', least_uuid('epoch'), now())`,
    [erasure, account],
  );
  await erase();
  expect(await erased()).toEqual([]);
  await database.query('UPDATE erasures SET completed_at = NULL');
  await erase();
  expect(await erased()).toEqual([account]);
  for (const statement of [
    `UPDATE events SET data = '{}'`,
    `UPDATE attempts SET response_body = NULL`,
    `UPDATE erasures SET contains = 'other'`,
    'INSERT INTO erasures (id, until, after) VALUES (new_uuid(now(), 1), now(), new_uuid(now(), 1))',
  ]) {
    await expect(as('worker', statement)).rejects.toMatchObject({ code: REFUSED });
  }
  await expect(as('api', `SELECT end_erasure('${erasure}')`)).rejects.toMatchObject({
    code: REFUSED,
  });
});

describe('the partition functions', () => {
  it('create partitions for a month ahead at most', async () => {
    await as('api', 'SELECT ensure_partitions(100000)');
    const made = await names(
      `SELECT relname AS name FROM pg_class WHERE relname ~ '^events_2' AND relkind = 'r'`,
    );
    expect(made).toHaveLength(32);
  });

  it('remove an old partition, and neither a newer one nor any other table', async () => {
    const old = await partitionsOf(database, DAYS + 2);
    const younger = await partitionsOf(database, DAYS + 1);
    for (const name of [`events_${younger}`, `events_${today}`, 'users', 'events', 'none', '']) {
      for (const remove of ['detach_partition', 'drop_partition']) {
        const attempt = as('worker', `SELECT ${remove}('${name}')`);
        await expect(attempt, `${remove} ${name}`).rejects.toMatchObject({ code: REFUSED });
      }
    }
    const table = `events_${old}`;
    await expect(as('worker', `SELECT drop_partition('${table}')`)).rejects.toThrow(
      `${table} was not detached to be dropped`,
    );
    await as('worker', `SELECT detach_partition('${table}')`, `SELECT drop_partition('${table}')`);
    expect(await names(`SELECT relname AS name FROM pg_class WHERE relname = '${table}'`)).toEqual(
      [],
    );
  });

  it('are not misled by objects that their caller creates', async () => {
    const own = `CREATE TEMP TABLE webhooks AS
      SELECT 1::bigint AS id, now() - interval '1 year' AS deleted_at, false AS cancelling;
      GRANT ALL ON pg_temp.webhooks TO PUBLIC`;
    // If migrate does not own the database, the right is still granted.
    const [name, role] = [database.url, asRole(database.url, 'worker')].map(
      (url) => new URL(url).username,
    );
    await database.query(`GRANT TEMPORARY ON DATABASE ${name} TO ${role}`);
    // Divides by zero if the function has removed the row.
    const isLeft = 'SELECT 1 / count(*) FROM pg_temp.webhooks';
    await as('worker', own, 'SELECT forget_webhooks(1, 10)', isLeft);
    await database.query(`REVOKE TEMPORARY ON DATABASE ${name} FROM ${role}`);
  });
});
