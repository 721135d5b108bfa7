import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { migrate, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { clientOf, send } from '../support/http.js';
import { apiInProcess, type InProcess, workerInProcess } from '../support/in-process.js';
import { programs } from '../support/processes.js';
import { Postgres, RedisStore } from '../support/stores.js';

let dir: string;
let running: InProcess[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'switchhook-read-only-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});

async function place(name: string): Promise<string> {
  await mkdir(join(dir, name));
  return join(dir, name);
}

async function start(environment: Record<string, string>): Promise<[InProcess, InProcess]> {
  const started = [await apiInProcess(environment), await workerInProcess(environment)] as const;
  running.push(...started);
  return [...started];
}

async function ready({ url }: InProcess): Promise<unknown> {
  const answer = await send('GET', `${url}/health/ready`);
  return { code: answer.status, ...answer.json<object>() };
}

it('an API and a worker are not ready on a standby of PostgreSQL, and are after its promotion', async () => {
  const primary = new Postgres(await place('primary'), programs);
  await primary.start();
  await migrate(readConfig({ DATABASE_URL: primary.url.toString() }), contextSchemas);
  const standby = await primary.replicate(join(dir, 'standby'));
  const processes = await start({ DATABASE_URL: standby.url.toString() });
  const reason = 'PostgreSQL is a standby, which takes no writes';
  for (const process of processes) {
    const down = { status: 'down', postgres: 'down', redis: 'up', reason };
    expect(await ready(process)).toEqual({ code: 503, ...down });
    expect((await send('GET', `${process.url}/health/live`)).status).toBe(200);
  }
  await primary.stop();
  await standby.query('SELECT pg_promote()');
  for (const process of processes) {
    const up = { status: 'up', postgres: 'up', redis: 'up' };
    expect(await ready(process)).toEqual({ code: 200, ...up });
  }
  await Promise.all(running.map((one) => one.stop()));
  await standby.stop();
});

it('an API and a worker with several hosts are not ready while none takes writes, and find the promoted one', async () => {
  const primary = new Postgres(await place('first'), programs);
  await primary.start();
  await migrate(readConfig({ DATABASE_URL: primary.url.toString() }), contextSchemas);
  const standby = await primary.replicate(join(dir, 'second'));
  const both = primary.url;
  both.searchParams.set('host', `${both.hostname},${both.hostname}`);
  both.searchParams.set('port', `${standby.url.port},${both.port}`);
  const processes = await start({ DATABASE_URL: both.toString() });
  for (const process of processes) expect(await ready(process)).toMatchObject({ code: 200 });
  await primary.stop();
  const reason = 'no host of PostgreSQL takes writes';
  for (const process of processes) {
    const answer = await eventually(
      () => ready(process) as Promise<{ code: number; reason?: string }>,
      (now) => now.reason !== undefined,
    );
    expect(answer).toMatchObject({ code: 503, postgres: 'down', reason });
  }
  await standby.query('SELECT pg_promote()');
  for (const process of processes) expect(await ready(process)).toMatchObject({ code: 200 });
  await Promise.all(running.map((one) => one.stop()));
  await standby.stop();
});

it('an API with DATABASE_SYNCHRONOUS takes no event while commits wait for no standby', async () => {
  const primary = new Postgres(await place('synchronous'), programs);
  await primary.start();
  await migrate(readConfig({ DATABASE_URL: primary.url.toString() }), contextSchemas);
  const standby = await primary.replicate(join(dir, 'its-standby'), { isSynchronous: true });
  const { id: accountId } = await createUser(primary, 'customer');
  const { auth } = await createUser(primary, 'platform', 'platform');
  const processes = await start({
    DATABASE_URL: primary.url.toString(),
    DATABASE_SYNCHRONOUS: 'true',
  });
  const client = clientOf(processes[0].url, auth);
  const report = async () => {
    const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
    return (await client.post('/v1/events', event)).status;
  };
  const waitFor = async (names: string) => {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await primary.query('SELECT pg_reload_conf()');
  };
  expect(await report()).toBe(202);
  await standby.stop();
  // Clearing the setting ends the wait of its commit, which no standby has.
  const reporting = report();
  await eventually(
    () => primary.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`),
    (rows) => rows.length > 0,
  );
  await waitFor('');
  expect(await reporting).toBe(503);
  expect(await report()).toBe(503);
  const reason =
    'commits of PostgreSQL wait for no standby, because its setting synchronous_standby_names is empty';
  for (const process of processes) {
    expect(await ready(process)).toMatchObject({ code: 503, postgres: 'down', reason });
  }
  await standby.start();
  await waitFor('*');
  await eventually(report, (status) => status === 202);
  for (const process of processes) {
    await eventually(
      () => ready(process) as Promise<{ code: number }>,
      ({ code }) => code === 200,
    );
  }
  await Promise.all(running.map((one) => one.stop()));
  await standby.stop();
  await primary.stop();
});

it('an API and a worker are not ready after a full disk until a write succeeds', async () => {
  const database: TestDatabase = await createTestDatabase();
  const { id: accountId } = await createUser(database, 'customer');
  const { auth } = await createUser(database, 'platform', 'platform');
  const processes = await start({ DATABASE_URL: database.url });
  await database.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
  );
  const tables = ['events', 'processes'];
  for (const table of tables) {
    await database.query(`CREATE TRIGGER disk BEFORE INSERT ON ${table} EXECUTE FUNCTION fail()`);
  }
  const client = clientOf(processes[0].url, auth);
  const event = { event: 'cdrCreated', resource: 'call', accountId, data: {} };
  const refused = await client.post('/v1/events', event);
  const detail = 'The database of the service takes no writes at present.';
  expect(refused).toMatchObject({ status: 503 });
  expect(refused.json()).toMatchObject({ code: 'unavailable', detail });
  expect((await client.get('/v1/events')).status).toBe(200);
  const reason = 'the disk of PostgreSQL is full';
  const down = { code: 503, status: 'down', postgres: 'down', redis: 'up', reason };
  for (const process of processes) {
    // A worker notices at the next heartbeat.
    await eventually(
      () => ready(process),
      (answer) => isDeepStrictEqual(answer, down),
      { ms: 20_000 },
    );
  }
  for (const table of tables) await database.query(`DROP TRIGGER disk ON ${table}`);
  for (const process of processes) {
    const up = { code: 200, status: 'up', postgres: 'up', redis: 'up' };
    await eventually(
      () => ready(process),
      (answer) => isDeepStrictEqual(answer, up),
    );
  }
  expect((await client.post('/v1/events', event)).status).toBe(202);
  await Promise.all(running.map((one) => one.stop()));
  await database.drop();
});

it('a worker is not ready, but an API is, while Redis takes no writes', async () => {
  const database: TestDatabase = await createTestDatabase();
  const redis = new RedisStore(await place('redis'), programs);
  await redis.start();
  const dump = join(dir, 'redis/dump.rdb');
  const [api, worker] = await start({
    DATABASE_URL: database.url,
    REDIS_URL: redis.url.toString(),
  });
  const config = async (...settings: string[]): Promise<void> => {
    await redis.command('CONFIG', 'SET', ...settings);
  };
  const ways: [reason: string, start: () => Promise<unknown>, end: () => Promise<unknown>][] = [
    // As after a failover.
    [
      'Redis is a replica, which takes no writes',
      async () => redis.command('REPLICAOF', '127.0.0.1', String(await freePort())),
      () => redis.command('REPLICAOF', 'NO', 'ONE'),
    ],
    ['Redis is full', () => config('maxmemory', '1'), () => config('maxmemory', '0')],
    [
      'Redis takes no writes, because it cannot save its data',
      async () => {
        await mkdir(dump);
        await config('save', '3600 1');
        await redis.command('BGSAVE');
        await eventually(
          () => redis.command('INFO', 'persistence'),
          (info) => String(info).includes('rdb_last_bgsave_status:err'),
        );
      },
      async () => {
        await config('save', '');
        await rmdir(dump);
      },
    ],
  ];
  for (const [reason, begin, end] of ways) {
    const both = { status: 'up', postgres: 'up', redis: 'up' };
    // A connection to a server that was a replica opens again.
    for (const process of [api, worker]) {
      await eventually(
        () => ready(process),
        (answer) => isDeepStrictEqual(answer, { code: 200, ...both }),
      );
    }
    await begin();
    const down = { redis: 'down', reason };
    expect(await ready(api)).toEqual({ code: 200, ...both, ...down });
    expect(await ready(worker)).toEqual({ code: 503, ...both, status: 'down', ...down });
    await end();
  }
  await Promise.all(running.map((one) => one.stop()));
  await redis.kill();
  await database.drop();
});
