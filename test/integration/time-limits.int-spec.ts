import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { Database, Log, Metrics, migrate, readConfig, TypeOrmTransactions } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createUser } from '../support/accounts.js';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asRole, testDatabaseUrl } from '../support/environment.js';
import { clientOf } from '../support/http.js';
import { aSubscription } from '../support/rows.js';

/** The timeouts of every process's role. */
const TIME_LIMITS = {
  statement_timeout: '14s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function run(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function limitsAt(url: string): Promise<Record<string, string>> {
  const limits = Object.keys(TIME_LIMITS).map((name) => `current_setting('${name}') AS ${name}`);
  return (await run(url, `SELECT ${limits.join()}`))[0]!;
}

describe('migrate', () => {
  const none = {
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  };
  const api = () => asRole(database.url, 'api');
  const migrateWith = async (variables: Record<string, string>): Promise<string[]> => {
    const told: string[] = [];
    const config = readConfig({ DATABASE_URL: database.url, ...variables });
    await migrate(config, contextSchemas, { print: (line) => told.push(line) });
    return told;
  };

  beforeEach(async () => {
    for (const url of [api(), database.url]) {
      const role = new URL(url).username;
      const name = new URL(url).pathname.slice(1);
      await run(testDatabaseUrl().toString(), `ALTER ROLE ${role} IN DATABASE ${name} RESET ALL`);
    }
    expect(await limitsAt(api())).toEqual(none);
  });

  it('tells the administrator what to run for roles that it may not change', async () => {
    const variables = { DATABASE_API_ROLE: new URL(api()).username };
    const [line, ...statements] = await migrateWith(variables);
    expect(line).toMatch(/^The role \S+ lacks settings.* run:$/);
    for (const sql of statements) {
      expect(sql).toMatch(/^ALTER ROLE .*;$/);
      await run(testDatabaseUrl().toString(), sql);
    }
    expect(await limitsAt(api())).toEqual(TIME_LIMITS);
    expect(await migrateWith(variables)).toEqual([]);
  });

  it('limits the role that it shares with the processes, in this database only', async () => {
    expect(await migrateWith({})).toEqual([]);
    expect(await limitsAt(database.url)).toEqual(TIME_LIMITS);
    const elsewhere = new URL(database.url);
    elsewhere.pathname = testDatabaseUrl().pathname;
    expect(await limitsAt(elsewhere.toString())).toEqual(none);
  });

  describe('keeps PostgreSQL from compiling statements', () => {
    const owner = () => database.url;
    const worker = () => asRole(database.url, 'worker');
    const nameOf = (url: string) => new URL(url).pathname.slice(1);
    const rolesOf = () => ({
      DATABASE_API_ROLE: new URL(api()).username,
      DATABASE_WORKER_ROLE: new URL(worker()).username,
    });
    const jitAt = async (...urls: string[]) =>
      (await Promise.all(urls.map((url) => run(url, 'SHOW jit')))).map(([row]) => row?.['jit']);
    const asAdmin = (sql: string) => {
      const { pathname } = new URL(database.url);
      return run(Object.assign(testDatabaseUrl(), { pathname }).toString(), sql);
    };

    beforeEach(async () => {
      await asAdmin(`ALTER DATABASE ${nameOf(database.url)} RESET ALL`);
      await asAdmin(`ALTER ROLE ${new URL(worker()).username} RESET ALL`);
      expect(await jitAt(owner(), api(), worker())).toEqual(['on', 'on', 'on']);
    });

    it('in an installation with a single role', async () => {
      expect(await migrateWith({})).toEqual([]);
      expect(await jitAt(owner())).toEqual(['off']);
    });

    it('for roles that it may not change', async () => {
      const told = await migrateWith(rolesOf());
      expect(told.join()).not.toContain('jit');
      expect(await jitAt(owner(), api(), worker())).toEqual(['off', 'off', 'off']);
    });

    it('where it does not own the database, if it may change the role', async () => {
      const { username } = new URL(database.url);
      const name = nameOf(database.url);
      await asAdmin(`ALTER DATABASE ${name} OWNER TO CURRENT_USER`);
      await asAdmin(`GRANT CREATE ON SCHEMA public TO ${username}`);
      try {
        expect(await migrateWith({})).toEqual([]);
        expect(await jitAt(owner(), worker())).toEqual(['off', 'on']);
        expect((await migrateWith(rolesOf())).join()).toContain("SET jit = 'off'");
      } finally {
        await asAdmin(`ALTER DATABASE ${name} OWNER TO ${username}`);
      }
    });

    it('unless an administrator has set it', async () => {
      await asAdmin(`ALTER DATABASE ${nameOf(database.url)} SET jit = on`);
      await migrateWith(rolesOf());
      expect(await jitAt(owner(), api(), worker())).toEqual(['on', 'on', 'on']);
    });
  });

  it('keeps limits that an administrator has set', async () => {
    await run(testDatabaseUrl().toString(), `${settingOfOwner()} statement_timeout = '20s'`);
    await migrateWith({});
    expect(await limitsAt(database.url)).toEqual({ ...TIME_LIMITS, statement_timeout: '20s' });
  });

  it('is not subject to limits itself', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    // The lock that another migrate would hold.
    await other.query('SELECT pg_advisory_lock(7770000)');
    await run(database.url, `${settingOfOwner()} statement_timeout = '1s'`);
    await run(database.url, `${settingOfOwner()} lock_timeout = '1s'`);
    const migrating = migrateWith({});
    await eventually(
      () =>
        database.query(
          `SELECT FROM pg_stat_activity
           WHERE wait_event = 'advisory' AND now() - query_start > interval '1500 ms'`,
        ),
      ({ length }) => length === 1,
    );
    await other.end();
    expect(await migrating).toEqual([]);
  });

  function settingOfOwner(): string {
    const { username, pathname } = new URL(database.url);
    return `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)} SET`;
  }
});

describe('a statement that PostgreSQL aborts', () => {
  let blocker: pg.Client;
  beforeEach(async () => {
    blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query('BEGIN');
  });
  afterEach(() => blocker.end());

  it.each(['statement_timeout', 'lock_timeout'])(
    'because of %s is answered with 503',
    async (limit) => {
      const { id, auth } = await createUser(database, `customer-${limit.replace('_', '-')}`);
      const webhook = await aSubscription(database, id);
      const url = asRole(database.url, 'api');
      const { username, pathname } = new URL(url);
      const role = `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)}`;
      const admin = testDatabaseUrl().toString();
      await run(admin, `${role} SET ${limit} = '300ms'`);
      const { app, url: base } = await apiInProcess({ DATABASE_URL: database.url });
      await blocker.query('SELECT FROM webhooks WHERE id = $1 FOR UPDATE', [webhook]);
      const answer = await clientOf(base, auth).put(`/v1/webhooks/${webhook}`, { name: 'new' });
      await app.close();
      await run(admin, `${role} RESET ${limit}`);
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
    },
  );

  it('because its transaction was idle for too long fails as unavailable', async () => {
    const source = new DataSource({
      type: 'postgres',
      url: database.url,
      poolErrorHandler: () => undefined,
    });
    await source.initialize();
    const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
    const own = new Database(source, new Metrics(), new Log(config, 'test'), config);
    const transactions = new TypeOrmTransactions(source, own);
    const attempt = transactions.run(() =>
      transactions.use(async (manager) => {
        const [row] = await manager.query<[{ pid: number }]>(
          `SELECT pg_backend_pid() AS pid,
             set_config('idle_in_transaction_session_timeout', '100ms', true)`,
        );
        await eventually(
          () => database.query('SELECT FROM pg_stat_activity WHERE pid = $1', [row.pid]),
          (found) => found.length === 0,
        );
        await manager.query('SELECT 1');
      }),
    );
    await expect(attempt).rejects.toThrow(UnavailableError);
    await source.destroy();
  });
});
