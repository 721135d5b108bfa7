import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { asRole, testDatabaseUrl } from '../support/environment.js';
import { clientOf, send } from '../support/http.js';
import {
  apiInProcess,
  type InProcess,
  type Running,
  workerInProcess,
} from '../support/in-process.js';
import { launch } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

/** Settings that a process refuses to work with, and the values that `migrate` sets instead. */
const UNFIT = {
  DateStyle: 'SQL, DMY',
  array_nulls: 'off',
  extra_float_digits: '-15',
  default_transaction_isolation: 'serializable',
  synchronous_commit: 'off',
};
/** Settings with which a process works slowly or with failures; `migrate` sets these, too. */
const SLOW = {
  enable_partition_pruning: 'off',
  idle_session_timeout: '50',
  idle_in_transaction_session_timeout: '50',
  lock_timeout: '1',
  plan_cache_mode: 'force_custom_plan',
  statement_timeout: '1',
  transaction_timeout: '1',
};
/** Harmless settings: nothing that a process reads or writes depends on them. */
const HARMLESS = {
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  backslash_quote: 'off',
  bytea_output: 'escape',
  check_function_bodies: 'off',
  client_encoding: 'LATIN1',
  client_min_messages: 'error',
  constraint_exclusion: 'off',
  cursor_tuple_fraction: '1',
  default_statistics_target: '1',
  default_table_access_method: 'heap',
  default_tablespace: 'pg_default',
  default_transaction_deferrable: 'on',
  enable_hashjoin: 'off',
  enable_indexonlyscan: 'off',
  enable_material: 'off',
  enable_nestloop: 'off',
  enable_partitionwise_join: 'on',
  escape_string_warning: 'off',
  from_collapse_limit: '1',
  geqo: 'off',
  jit: 'on',
  join_collapse_limit: '1',
  lc_messages: 'C',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  max_parallel_workers_per_gather: '0',
  quote_all_identifiers: 'on',
  row_security: 'off',
  standard_conforming_strings: 'off',
  temp_file_limit: '64',
  transform_null_equals: 'on',
  work_mem: '64',
  xmlbinary: 'hex',
  xmloption: 'document',
};

const OCCURRED = '2026-03-04T05:06:07.089Z';

let database: TestDatabase;
let receiver: Receiver;
let customer: { id: string; auth: string };
let platform: { id: string; auth: string };
let running: Running[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  customer = await createUser(database, 'customer');
  platform = await createUser(database, 'platform', 'platform');
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});
afterEach(async () => {
  await asAdmin(`ALTER DATABASE ${name()} RESET ALL`);
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  receiver.received.length = 0;
});

const name = () => new URL(database.url).pathname.slice(1);

async function asAdmin(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabaseUrl().toString() });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function alter(settings: Record<string, string>): Promise<void> {
  return asAdmin(
    ...Object.entries(settings).map(
      ([setting, value]) => `ALTER DATABASE ${name()} SET ${setting} = '${value}'`,
    ),
  );
}

/**
 * Removes the settings that `migrate` made for the roles, as if it had not been allowed to make them. @returns a
 * function that restores them
 */
async function withoutPins(): Promise<() => Promise<void>> {
  const roles = (['api', 'worker'] as const).map(
    (kind) => new URL(asRole(database.url, kind)).username,
  );
  const set = await database.query<{ role: string; setting: string }>(
    `SELECT rolname AS role, unnest(setconfig) AS setting FROM pg_db_role_setting s
     JOIN pg_roles r ON r.oid = s.setrole WHERE rolname = ANY ($1)`,
    [roles],
  );
  await asAdmin(...roles.map((role) => `ALTER ROLE ${role} IN DATABASE ${name()} RESET ALL`));
  return () =>
    asAdmin(
      ...set.map(({ role, setting }) => {
        const [what = '', value = ''] = setting.split(/=(.*)/);
        return `ALTER ROLE ${role} IN DATABASE ${name()} SET ${what} = '${value}'`;
      }),
    );
}

interface Ready {
  code: number;
  reason?: string;
}

const environment = () => ({
  DATABASE_URL: database.url,
  DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
});

async function start(): Promise<[api: InProcess, worker: InProcess]> {
  const started = [
    await apiInProcess(environment()),
    await workerInProcess(environment()),
  ] as const;
  running.push(...started);
  return [...started];
}

async function ready({ url }: { url: string }): Promise<Ready> {
  const answer = await send('GET', `${url}/health/ready`);
  return { code: answer.status, ...answer.json<object>() };
}

const anEvent = () => ({
  event: 'smsdlr',
  resource: 'sms',
  accountId: customer.id,
  occurredAt: OCCURRED,
  data: { text: 'Grüße' },
});

/** Reports two events without an id, and checks all of their times. */
async function deliversWithTheRightTimes(): Promise<void> {
  const [api, worker] = await start();
  const [mine, reporting] = [customer, platform].map(({ auth }) => clientOf(api.url, auth));
  const begunAt = Date.now();
  const created = await mine!.post('/v1/webhooks', {
    event: 'smsdlr',
    resource: 'all',
    targetUrl: receiver.url,
    headers: { 'X-Key': 'value' },
  });
  expect(created.status).toBe(200);
  const webhook = created.json<{ href: string }>().href.split('/').at(-1)!;
  for (let n = 0; n < 2; n += 1) {
    const accepted = await reporting!.post('/v1/events', anEvent());
    expect(accepted.json()).toMatchObject({ duplicate: false, deliveries: 1 });
  }
  await receiver.until((received) => received.length === 2);
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    timestamp: OCCURRED,
    data: anEvent().data,
  });
  const deliveries = await eventually(
    async () => (await mine!.get(`/v1/webhooks/${webhook}/deliveries`)).json<Shown[]>(),
    (all) => all.length === 2 && all.every(({ state }) => state === 'succeeded'),
  );
  const shown = (await mine!.get(`/v1/deliveries/${deliveries[0]!.id}`)).json<Shown>();
  const event = (await mine!.get(`/v1/events/${shown.eventId}`)).json<Shown>();
  expect(event.occurredAt).toBe(OCCURRED);
  const times = [event.createdAt, shown.createdAt, shown.completedAt, shown.attemptLog![0]!.at];
  for (const time of times) {
    expect(Date.parse(time)).toBeGreaterThan(begunAt - 1_000);
    expect(Date.parse(time)).toBeLessThan(Date.now() + 1_000);
  }
  expect((await mine!.get(`/v1/webhooks/${webhook}/stats`)).status).toBe(200);
  expect((await mine!.get('/v1/stats')).status).toBe(200);
  expect((await reporting!.get('/v1/overview')).status).toBe(200);
  const audit = (await mine!.get('/v1/audit?limit=1')).json<Shown[]>();
  expect(Date.parse(audit[0]!.createdAt)).toBeGreaterThan(begunAt - 1_000);
  expect((await mine!.delete(`/v1/webhooks/${webhook}`)).status).toBe(200);
  for (const process of [api, worker]) {
    expect(await ready(process)).toMatchObject({ code: 200, status: 'up' });
  }
}

interface Shown {
  id: string;
  eventId: string;
  state: string;
  occurredAt: string;
  createdAt: string;
  completedAt: string;
  attemptLog?: { at: string }[];
}

it('delivers with the right times, whatever is set for the database, if migrate may set its roles', async () => {
  await alter({ ...UNFIT, ...SLOW, ...HARMLESS });
  await deliversWithTheRightTimes();
});

describe('without the settings of migrate', () => {
  let restore: () => Promise<void>;
  beforeAll(async () => {
    restore = await withoutPins();
  });
  afterAll(() => restore());

  it('delivers with the right times with settings that do no harm', async () => {
    await alter(HARMLESS);
    await deliversWithTheRightTimes();
  });

  it('a running API and worker are not ready while a setting is wrong, and name it', async () => {
    const processes = await start();
    const unfit = { ...UNFIT, session_replication_role: 'replica', search_path: 'elsewhere' };
    for (const [setting, value] of Object.entries(unfit)) {
      await alter({ [setting]: value });
      for (const process of processes) {
        const { code, reason, ...others } = await ready(process);
        expect([code, others]).toEqual([503, { status: 'down', postgres: 'down', redis: 'up' }]);
        expect(reason).toContain(`the setting ${setting} of PostgreSQL is "${value}", and has to`);
        expect((await send('GET', `${process.url}/health/live`)).status).toBe(200);
      }
      await asAdmin(`ALTER DATABASE ${name()} RESET ${setting}`);
      for (const process of processes) expect((await ready(process)).code).toBe(200);
    }
  });

  it.each(['api', 'worker'] as const)(
    'a starting %s waits until the setting is right, and names it in its log',
    async (kind) => {
      await alter({ DateStyle: 'SQL, DMY' });
      const process = await launch(kind, environment());
      running.push(process);
      const reason = 'the setting DateStyle of PostgreSQL is "SQL, DMY", and has to be "ISO, MDY"';
      const down = { code: 503, status: 'down', postgres: 'down', schema: 'down', reason };
      await eventually(
        () => ready(process).catch(() => undefined),
        (answer) => answer?.reason === reason,
      );
      expect(await ready(process)).toEqual(down);
      expect((await send('GET', `${process.url}/health/live`)).status).toBe(200);
      // The log is written after the answer.
      const away = await eventually(
        () => process.log().find(({ msg }) => msg === 'PostgreSQL is away'),
        (line) => line !== undefined,
      );
      expect(away).toMatchObject({ err: { message: reason } });
      await asAdmin(`ALTER DATABASE ${name()} RESET DateStyle`);
      await process.ready();
    },
  );

  it('uses no connection with a wrong setting', async () => {
    const [api] = await start();
    await alter({ array_nulls: 'off' });
    // The pool opens others.
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`,
      [new URL(asRole(database.url, 'api')).username],
    );
    const client = clientOf(api.url, platform.auth);
    const stored = () => database.query(`SELECT FROM event_keys WHERE producer_id = 'NULL'`);
    expect((await client.post('/v1/events', anEvent())).status).toBe(503);
    expect(await stored()).toEqual([]);
    await asAdmin(`ALTER DATABASE ${name()} RESET array_nulls`);
    for (let n = 0; n < 2; n += 1) {
      const accepted = await client.post('/v1/events', anEvent());
      expect(accepted.json()).toMatchObject({ duplicate: false });
    }
  });

  it('an API and a worker are not ready while PostgreSQL is read-only', async () => {
    const processes = await start();
    await alter({ default_transaction_read_only: 'on' });
    for (const process of processes) {
      expect(await ready(process)).toEqual({
        ...{ code: 503, status: 'down', postgres: 'down', redis: 'up' },
        reason:
          'PostgreSQL takes no writes, because its setting default_transaction_read_only is on',
      });
      expect((await send('GET', `${process.url}/health/live`)).status).toBe(200);
    }
    running.push(await apiInProcess(environment()));
    const client = clientOf(running.at(-1)!.url, platform.auth);
    expect((await client.get('/v1/events')).status).toBe(200);
    const refused = await client.post('/v1/events', anEvent());
    const detail = 'The database of the service takes no writes at present.';
    expect(refused.json()).toMatchObject({ status: 503, detail });
    await asAdmin(`ALTER DATABASE ${name()} RESET default_transaction_read_only`);
    // Connections that are open keep the old value.
    for (const process of processes) {
      await eventually(
        () => ready(process),
        ({ code }) => code === 200,
        { ms: 20_000 },
      );
    }
  });
});
