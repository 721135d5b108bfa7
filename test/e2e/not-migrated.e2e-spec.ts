import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { migrate, readConfig } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { runCli } from '../support/command-line.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  runOn,
  type TestDatabase,
} from '../support/database.js';
import { testDatabaseUrl } from '../support/environment.js';
import { send } from '../support/http.js';
import { launch } from '../support/processes.js';
import { proxyTo } from '../support/tcp-proxy.js';

const WAITING = 'waiting for the database schema: run migrate';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

function runMigrate(): Promise<string[]> {
  const name = new URL(database.url).username;
  const roles = { DATABASE_API_ROLE: `${name}_api`, DATABASE_WORKER_ROLE: `${name}_worker` };
  const config = readConfig({ DATABASE_URL: database.url, ...roles });
  return migrate(config, contextSchemas, { print: () => undefined });
}

/** A waiting process. */
async function waiting(kind: 'api' | 'worker', environment = {}) {
  const started = await launch(kind, { DATABASE_URL: database.url, ...environment });
  const health = (path: string) => send('GET', `${started.url}/health/${path}`);
  await eventually(() => health('live').catch(() => undefined));
  const messages = () => started.log().map(({ msg }) => msg);
  return { started, health, messages };
}

it.each([['migrate'], ['users', 'list']])(
  'does not run the command %s on a database with features in use that it does not know',
  async (...command) => {
    await database.query("INSERT INTO features VALUES ('teleport')");
    const { code, stderr } = await runCli(command, { env: { DATABASE_URL: database.url } });
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      'features that this version does not know, and would ignore: "teleport"',
    );
  },
);

// The API and the worker wait in the same way, but each reads the version with its own role.
describe.each(['api', 'worker'] as const)('%s', (kind) => {
  it('does not start on a database with features in use that it does not know, and names them', async () => {
    await database.query("INSERT INTO features VALUES ('teleport')");
    const started = await launch(kind, { DATABASE_URL: database.url });
    expect(await started.exited).toBe('exited with code 1');
    const [fatal] = started.log().filter(({ level }) => level === 'fatal');
    expect(fatal?.msg).toContain(
      'the database uses features that this version does not know, and would ignore: "teleport".',
    );
  });

  it('waits for migrate on an empty database, and says so once', async () => {
    await database.query('DROP SCHEMA public CASCADE');
    await database.query('CREATE SCHEMA public');
    await database.query('GRANT USAGE ON SCHEMA public TO PUBLIC');
    const { started, health, messages } = await waiting(kind);

    expect((await health('live')).json()).toEqual({ status: 'up' });
    const ready = await health('ready');
    expect(ready.status).toBe(503);
    expect(ready.json()).toEqual({ status: 'down', postgres: 'up', schema: 'down' });
    const refused = await send('GET', `${started.url}/v1/applications?secret=hidden`);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.json()).toMatchObject({
      code: 'unavailable',
      instance: '/v1/applications',
      detail: 'The service waits until its database has been migrated.',
    });

    expect(await runMigrate()).not.toEqual([]);
    await started.ready();
    expect((await health('ready')).json()).not.toHaveProperty('schema');
    expect(await started.stop()).toBe('exited with code 0');
    expect(messages().filter((msg) => msg === WAITING)).toHaveLength(1);
    expect(messages()).toEqual(
      expect.arrayContaining(['starting', WAITING, 'started', 'stopping', 'stopped']),
    );
  });

  it('waits until it may read the list of migrations, and says so once', async () => {
    const role = `${new URL(database.url).username}_${kind}`;
    await database.query(`REVOKE SELECT ON migrations FROM ${role}`);
    const { started, messages } = await waiting(kind);
    const msg =
      'this role cannot read the version of the schema: run migrate with DATABASE_API_ROLE and DATABASE_WORKER_ROLE';
    await eventually(() => messages().includes(msg));
    expect(started.log().find((line) => line['msg'] === msg)).toMatchObject({
      level: 'warn',
      err: { message: 'permission denied for table migrations' },
    });
    await runMigrate();
    await started.ready();
    expect(messages().filter((each) => each === msg)).toHaveLength(1);
    expect(messages()).not.toContain(WAITING);
  });

  it('refuses a database in another encoding than UTF-8, and names it', async () => {
    const other = await createEmptyDatabase(`ENCODING 'LATIN1' LOCALE 'C'`);
    const { started, health } = await waiting(kind, { DATABASE_URL: other.url });
    const reason = 'the encoding of the database is LATIN1, and has to be UTF8';
    const ready = await eventually(
      () => health('ready'),
      (answer) => answer.text.includes('reason'),
    );
    const down = { status: 'down', postgres: 'down', schema: 'down', reason };
    expect([ready.status, ready.json()]).toEqual([503, down]);
    expect(started.log()).toContainEqual(
      expect.objectContaining({
        msg: 'PostgreSQL is away',
        err: expect.objectContaining({ message: reason }) as unknown,
      }),
    );
    await started.stop();
    await other.drop();
  });

  it('warns once that sslmode=require does not verify the certificate of PostgreSQL', async () => {
    const proxy = await proxyTo(database.url);
    proxy.down();
    const { started, messages } = await waiting(kind, {
      DATABASE_URL: `${proxy.address}?sslmode=require`,
    });
    const warning =
      'the certificate of PostgreSQL is not verified: use sslmode=verify-full in DATABASE_URL';
    expect(messages().filter((msg) => msg === warning)).toHaveLength(1);
    await started.stop();
    await proxy.close();
  });

  it('ends at once when it is stopped while it waits', async () => {
    await database.query('DELETE FROM migrations');
    const { started, messages } = await waiting(kind);
    await eventually(() => messages().includes(WAITING));
    const start = Date.now();
    expect(await started.stop()).toBe('exited with code 0');
    expect(Date.now() - start).toBeLessThan(10_000);
    expect(messages().slice(-2)).toEqual(['stopping', 'stopped']);
  });
});

it('warns of a limit of connections below its pool', async () => {
  const { username } = new URL(database.url);
  await runOn(testDatabaseUrl().toString(), `ALTER ROLE ${username}_api CONNECTION LIMIT 9`);
  const { started } = await waiting('api');
  await started.ready();
  const msg = 'PostgreSQL allows fewer connections than DATABASE_POOL_SIZE';
  expect(started.log()).toContainEqual(
    expect.objectContaining({ level: 'warn', msg, allowed: 9, needed: 10 }),
  );
  await started.stop();
});

it('warns of indexes that were sorted by another version of the collation', async () => {
  const other = await createEmptyDatabase(
    `ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'`,
  );
  await migrate(readConfig({ DATABASE_URL: other.url }), contextSchemas);
  await runOn(
    other.url,
    `UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`,
  );
  const { started } = await waiting('worker', { DATABASE_URL: other.url });
  await started.ready();
  const msg = 'the collation of the database has another version: reindex';
  expect(started.log()).toContainEqual(
    expect.objectContaining({ level: 'warn', msg, madeWith: '0' }),
  );
  await started.stop();
  await other.drop();
});

it('waits for a migration of its version, and names it', async () => {
  const [{ name } = { name: '' }] = await database.query<{ name: string }>(
    'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING name',
  );
  const { started, messages } = await waiting('api');
  await eventually(() => messages().includes(WAITING));
  expect(started.log().find(({ msg }) => msg === WAITING)?.['missing']).toEqual([name]);
  await database.query(`INSERT INTO migrations (timestamp, name) VALUES (1, '${name}')`);
  await started.ready();
});

it('waits for PostgreSQL, and says when it is back', async () => {
  const proxy = await proxyTo(database.url);
  proxy.down();
  const { started, health, messages } = await waiting('api', { DATABASE_URL: proxy.address });
  const down = { status: 'down', postgres: 'down', schema: 'down' };
  expect((await health('ready')).json()).toEqual(down);
  const refused = await send('GET', `${started.url}/v1/applications`);
  expect(refused.json()).toMatchObject({ detail: 'The service cannot reach its database now.' });
  expect(messages()).toContain('PostgreSQL is away');
  proxy.up();
  await started.ready();
  expect(messages()).toContain('PostgreSQL is back');
  await started.stop();
  await proxy.close();
});

it('ends at once when it is stopped while PostgreSQL does not answer its first connection', async () => {
  const proxy = await proxyTo(database.url);
  proxy.freezeAll();
  const started = await launch('api', { DATABASE_URL: proxy.address });
  await eventually(() => proxy.clients() > 0);
  const start = Date.now();
  expect(await started.stop()).toBe('exited with code 0');
  expect(Date.now() - start).toBeLessThan(10_000);
  expect(started.log().map(({ msg }) => msg)).toEqual(['starting', 'stopping', 'stopped']);
  await proxy.close();
});

it('starts on the database of a later version, and logs its version, ports and stores, but no password', async () => {
  await database.query(`INSERT INTO migrations (timestamp, name) VALUES (1, 'Later1')`);
  const started = await launch('api', { DATABASE_URL: database.url });
  await started.ready();
  const { password, host, pathname } = new URL(database.url);
  // It is ready as soon as it listens, and says afterwards that it has started.
  const lines = await eventually(
    () => started.log(),
    (all) => all.some(({ msg }) => msg === 'started'),
  );
  expect(lines.find(({ msg }) => msg === 'starting')).toMatchObject({
    process: 'api',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
    postgres: host + pathname,
    redis: expect.stringMatching(/^[^@]+:\d+\/\d+$/) as string,
  });
  expect(lines.find(({ msg }) => msg === 'started')).toMatchObject({ port: started.port });
  expect(started.output()).not.toContain(WAITING);
  expect(started.output()).not.toContain(password);
});
