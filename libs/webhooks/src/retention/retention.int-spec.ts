import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { SecretBox } from '#libs/kernel';
import { type BackgroundTasks, Database, Log, Metrics, readConfig, statement } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { dayAt } from '../partitions/partition-days.js';
import { WebhookSecrets } from '../subscriptions/domain/webhook-secrets.js';
import type { DeliveryMetrics } from '../sending/delivery-metrics.js';
import { ACCEPT_EVENTS } from '../events/infrastructure/accept-events.statements.js';
import type { PendingDays } from '../sending/pending-days.js';
import { PostgresPendingDeliveries } from '../sending/infrastructure/postgres-pending-deliveries.js';
import { DETACH, DROP } from './retention.statements.js';
import { Retention } from './retention.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { asRole } from '../../../../test/support/environment.js';
import { partitionsOf, pastDeliveries } from '../../../../test/support/past.js';
import { aSubscription, anAccount } from '../../../../test/support/rows.js';

const DAYS = 3;
const TIMEOUT_MS = 15_000;
/** Removes all rows, and the partitions of past days. */
const FORGET_THE_PAST = `
TRUNCATE webhooks, events, deliveries, attempts, event_keys, replays, idempotency_keys;
DO $$ DECLARE
  past text;
BEGIN
  FOR past IN SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relname ~ '^(events|deliveries|attempts)_[0-9]{8}$'
      AND right(relname, 8) < to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %I', past);
  END LOOP;
END $$`;

let database: TestDatabase;
let account: string;
let webhook: string;
let sources: DataSource[];
let expired: number;

beforeAll(async () => {
  database = await createTestDatabase({ RETENTION_DAYS: String(DAYS) });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.query(FORGET_THE_PAST);
  account = await anAccount(database);
  webhook = await aSubscription(database, account);
  sources = [];
  expired = 0;
});
afterEach(async () => {
  await Promise.all(sources.map((source) => source.destroy()));
});

const config = () => readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });

async function connections(role: 'api' | 'worker'): Promise<DataSource> {
  const source = new DataSource({
    type: 'postgres',
    url: asRole(database.url, role),
    poolErrorHandler: () => undefined,
  });
  sources.push(source);
  return source.initialize();
}

const storeOf = (source: DataSource) =>
  new Database(source, new Metrics(), new Log(config(), 'test'), config());

/** A worker's retention task. */
async function aWorker(): Promise<Retention> {
  const metrics = { ended: (_: string, count: number) => (expired += count) };
  return new Retention(
    { add: () => undefined } as unknown as BackgroundTasks,
    storeOf(await connections('worker')),
    metrics as unknown as DeliveryMetrics,
  );
}

async function partitions(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'r' AND relname ~ '^(events|deliveries|attempts)_[0-9]{8}$' ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

const namesOf = (day: string) => ['attempts', 'deliveries', 'events'].map((of) => `${of}_${day}`);

const deliveries = (ids: string[]) =>
  database.query(
    `SELECT state, reason, completed_at IS NOT NULL AS ended, claimed_until
     FROM deliveries WHERE id = ANY ($1) ORDER BY id`,
    [ids],
  );

const keys = async () =>
  (await database.query<{ n: number }>('SELECT count(*)::integer AS n FROM event_keys'))[0]?.n;

it('drops the partitions and keys of a day whose retention has ended', async () => {
  const present = await partitions();
  const old = await partitionsOf(database, DAYS + 2);
  const kept = await partitionsOf(database, DAYS + 1);
  await pastDeliveries(database, webhook, { daysAgo: DAYS + 2, count: 2_500 });
  await pastDeliveries(database, webhook, { daysAgo: DAYS + 1, count: 3 });
  const worker = await aWorker();
  await worker.run();
  // New queries no longer find them, but queries that started earlier may still read them.
  expect(await partitions()).toEqual([...present, ...namesOf(old), ...namesOf(kept)].sort());
  const [seen] = await database.query('SELECT count(*)::integer AS n FROM deliveries');
  expect(seen).toEqual({ n: 3 });
  expect(await keys()).toBe(3);
  await worker.run();
  expect(await partitions()).toEqual([...present, ...namesOf(kept)].sort());
});

it('expires unfinished deliveries when their retention ends, not earlier', async () => {
  for (const daysAgo of [DAYS - 1, DAYS, DAYS + 1]) await partitionsOf(database, daysAgo);
  const pending = (daysAgo: number, columns = {}) =>
    pastDeliveries(database, webhook, {
      daysAgo,
      columns: { state: `'pending'`, next_attempt_at: 'now()', ...columns },
    });
  const ids = [
    await pending(DAYS + 0.01),
    await pending(DAYS - 0.01),
    await pending(DAYS + 0.02, { claimed_until: `now() + interval '1 minute'` }),
    await pending(DAYS + 0.03, { claimed_until: 'now()' }),
  ].flat();
  await (await aWorker()).run();
  const unchanged = { state: 'pending', reason: null, ended: false };
  const ended = {
    state: 'exhausted',
    reason: 'expired',
    ended: true,
    claimed_until: null,
  };
  expect(await deliveries([ids[0]!])).toEqual([ended]);
  expect(await deliveries([ids[1]!])).toMatchObject([unchanged]);
  expect(await deliveries([ids[2]!])).toMatchObject([unchanged]);
  expect(await deliveries([ids[3]!])).toEqual([ended]);
  expect(expired).toBe(2);
});

it('expires and removes all old days after a long downtime, except deliveries in flight', async () => {
  const present = await partitions();
  const days: string[] = [];
  for (let daysAgo = DAYS + 12; daysAgo >= DAYS + 2; daysAgo -= 1) {
    days.push(await partitionsOf(database, daysAgo));
    await pastDeliveries(database, webhook, {
      daysAgo,
      count: 1_200,
      columns: { state: `'pending'`, next_attempt_at: 'now()' },
    });
  }
  const [under] = await database.query<{ id: string }>(
    `UPDATE deliveries SET claimed_until = now() + interval '1 minute'
     WHERE id = (SELECT id FROM deliveries ORDER BY id LIMIT 1) RETURNING id`,
  );
  const worker = await aWorker();
  await worker.run();
  await worker.run();
  expect(expired).toBe(days.length * 1_200 - 1);
  expect(await partitions()).toEqual([...present, ...namesOf(days[0]!)].sort());
  expect(await deliveries([under!.id])).toMatchObject([{ state: 'pending' }]);
  await database.query('UPDATE deliveries SET claimed_until = now() WHERE id = $1', [under!.id]);
  await worker.run();
  await worker.run();
  expect(await partitions()).toEqual(present);
  expect(await keys()).toBe(0);
});

it('leaves a reused key to the event that owns it now', async () => {
  await partitionsOf(database, DAYS + 2);
  await pastDeliveries(database, webhook, { daysAgo: DAYS + 2, count: 2 });
  const later = randomUUID();
  await database.query(
    `UPDATE event_keys SET event_id = $1
     WHERE producer_id = (SELECT min(producer_id) FROM event_keys)`,
    [later],
  );
  await (await aWorker()).run();
  expect(await database.query('SELECT event_id FROM event_keys')).toEqual([{ event_id: later }]);
});

it('is done by one worker at a time, and each continues where another stopped', async () => {
  const present = await partitions();
  for (let daysAgo = DAYS + 8; daysAgo >= DAYS + 2; daysAgo -= 1) {
    await partitionsOf(database, daysAgo);
    await pastDeliveries(database, webhook, {
      daysAgo,
      count: 600,
      columns: { state: `'pending'`, next_attempt_at: 'now()' },
    });
  }
  const workers = await Promise.all([aWorker(), aWorker(), aWorker()]);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(workers.map((worker) => worker.run()));
  }
  expect(await partitions()).toEqual(present);
  expect(expired).toBe(7 * 600);
});

it('leaves everything to another worker that is removing at the same time', async () => {
  const old = await partitionsOf(database, DAYS + 2);
  await pastDeliveries(database, webhook, {
    daysAgo: DAYS + 2,
    columns: { state: `'pending'`, next_attempt_at: 'now()' },
  });
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query(`BEGIN; SELECT pg_advisory_xact_lock(7770002, 'events'::regclass::integer)`);
  const worker = await aWorker();
  await worker.run();
  expect(expired).toBe(0);
  await other.end();
  await worker.run();
  await worker.run();
  expect(expired).toBe(1);
  expect(await partitions()).not.toContain(`deliveries_${old}`);
});

it.each([
  ['detach', DETACH],
  ['drop', DROP],
])('does not fail to %s a partition that another worker has removed', async (_, removal) => {
  const store = storeOf(await connections('worker'));
  expect(await store.run(removal, { name: 'deliveries_20200101' })).toEqual([
    { mine: true, done: null },
  ]);
});

it('removes nothing within the retention of the last migrate', async () => {
  const old = await partitionsOf(database, DAYS + 2);
  const kept = await partitionsOf(database, DAYS + 1);
  for (const daysAgo of [DAYS, DAYS - 1]) await partitionsOf(database, daysAgo);
  await pastDeliveries(database, webhook, {
    daysAgo: DAYS - 0.5,
    columns: { state: `'pending'`, next_attempt_at: 'now()' },
  });
  const worker = await aWorker();
  await worker.run();
  await worker.run();
  const left = await partitions();
  expect(left).toEqual(expect.arrayContaining(namesOf(kept)));
  expect(left).not.toContain(`events_${old}`);
  expect(expired).toBe(0);
});

it('keeps partitions that an operator detached', async () => {
  const present = await partitions();
  const archived = await partitionsOf(database, DAYS + 2);
  for (const table of ['events', 'deliveries', 'attempts']) {
    await database.query(`ALTER TABLE ${table} DETACH PARTITION ${table}_${archived}`);
  }
  const worker = await aWorker();
  await worker.run();
  await worker.run();
  expect(await partitions()).toEqual([...present, ...namesOf(archived)].sort());
});

it('gives up its lock for a long-running reader, and does not block other readers', async () => {
  const old = await partitionsOf(database, DAYS + 2);
  const present = await partitions();
  await pastDeliveries(database, webhook, { daysAgo: DAYS + 2, count: 3 });
  const reader = await readerOf('deliveries');
  const worker = await aWorker();
  let going = true;
  let longest = 0;
  const read = async () => {
    while (going) {
      const start = performance.now();
      await database.query('SELECT FROM deliveries LIMIT 1');
      longest = Math.max(longest, performance.now() - start);
    }
  };
  const reading = read();
  const locked = { code: '55P03' };
  await expect(worker.run()).rejects.toMatchObject(locked);
  await expect(worker.run()).rejects.toMatchObject(locked);
  going = false;
  await reading;
  expect(await partitions()).toEqual(present);
  // It waits for the lock twice, a tenth of a second each time.
  expect(longest).toBeLessThan(5_000);
  await reader.end();
  await worker.run();
  await worker.run();
  expect(await partitions()).not.toContain(`deliveries_${old}`);
});

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

/** A transaction that has read a table, as a backup does. */
async function readerOf(table: string): Promise<pg.Client> {
  const reader = await connected(database.url);
  await reader.query(`BEGIN; LOCK TABLE ${table} IN ACCESS SHARE MODE`);
  return reader;
}

it('delays neither accepting nor delivering, and records no attempt of a removed delivery', async () => {
  for (let daysAgo = DAYS + 9; daysAgo >= DAYS + 2; daysAgo -= 1) {
    await partitionsOf(database, daysAgo);
    await pastDeliveries(database, webhook, { daysAgo, count: 500 });
  }
  const api = storeOf(await connections('api'));
  const store = storeOf(await connections('worker'));
  const metrics = { leasesExpired: () => undefined } as unknown as DeliveryMetrics;
  const log = {} as Log;
  const secrets = new WebhookSecrets(new SecretBox([]));
  const days = {} as PendingDays;
  const pending = new PostgresPendingDeliveries(store, secrets, metrics, days, log, config());
  const [gone] = await database.query<{ id: string }>('SELECT min(id::text) AS id FROM deliveries');
  const [found] = await database.query<{ id: string }>('SELECT max(id)::text AS id FROM webhooks');
  const subscription = found!.id;
  const today = dayAt(new Date());
  let going = true;
  const longest = { accept: 0, deliver: 0 };
  const timed = async (what: keyof typeof longest, work: () => Promise<unknown>) => {
    while (going) {
      const start = performance.now();
      await work();
      longest[what] = Math.max(longest[what], performance.now() - start);
    }
  };
  const accept = () =>
    api.run(ACCEPT_EVENTS, {
      events: ['cdrCreated'],
      resources: ['call'],
      applicationIds: [undefined],
      accountIds: [account],
      producerIds: [randomUUID()],
      occurredAt: [undefined],
      data: ['{}'],
      traceparents: undefined,
      // The delivery is not queued here, so it is due.
      hasRoom: false,
      timeoutMs: TIMEOUT_MS,
    });
  let recorded = 0;
  const deliver = async () => {
    const claim = { webhookId: subscription, accountId: account, day: today, most: 50 };
    const deliveries = await pending.claim([
      { ...claim, dueForMs: Infinity, probe: false, immediate: false, pace: null },
    ]);
    const attempt = {
      number: 1,
      at: new Date(),
      durationMs: 1,
      status: 200,
      address: '127.0.0.1',
      truncated: false,
    };
    const conclusion = { state: 'succeeded' } as const;
    recorded += deliveries.length;
    const outcome = { attempt, conclusion, ifRestarted: conclusion, scheduleBase: 0 };
    await Promise.all([
      ...deliveries.map(({ id, lease }) => pending.record({ id, lease, ...outcome })),
      // And an outcome of a removed delivery, from a slow worker.
      pending.record({ id: gone!.id, lease: 1, ...outcome }),
    ]);
  };
  const load = Promise.all([
    timed('accept', accept),
    timed('accept', accept),
    timed('deliver', deliver),
  ]);
  const worker = await aWorker();
  const before = await eventually(
    () => recorded,
    (count) => count > 0,
  );
  await worker.run();
  await worker.run();
  await eventually(
    () => recorded,
    (count) => count > before,
  );
  going = false;
  await load;
  expect(Math.max(longest.accept, longest.deliver)).toBeLessThan(2_000);
  const [row] = await database.query<{ n: number; attempts: number }>(
    `SELECT (SELECT count(*)::integer FROM attempts) AS attempts,
       (SELECT count(*)::integer FROM deliveries WHERE attempts = 1) AS n`,
  );
  expect(row).toEqual({ n: recorded, attempts: recorded });
  expect((await partitions()).filter((name) => name.startsWith('events_'))).toHaveLength(8);
});

it('deletes replays that ended before the retention period, and no running one', async () => {
  await database.query(
    `INSERT INTO replays (id, webhook_id, account_id, since, until, states, total, state, completed_at)
     SELECT new_uuid(now(), n), $1, $2, now(), now(), '{exhausted}', 0,
       CASE WHEN n < 3 THEN 'completed' ELSE 'running' END,
       CASE WHEN n < 3 THEN now() - ($3::float8 + 1.1 - n) * interval '24 hours' END
     FROM generate_series(1, 3) n`,
    [webhook, account, DAYS],
  );
  await (await aWorker()).run();
  const left = await database.query('SELECT state FROM replays ORDER BY state');
  expect(left).toEqual([{ state: 'completed' }, { state: 'running' }]);
});

it('deletes recoveries that ended before the retention period, and no running one', async () => {
  await database.query(
    `INSERT INTO recoveries (id, since, until, user_id, visited_at)
     SELECT new_uuid(now(), n), now(), now(), $1,
       CASE WHEN n < 3 THEN now() - ($2::float8 + 1.1 - n) * interval '24 hours' END
     FROM generate_series(1, 3) n`,
    [account, DAYS],
  );
  await (await aWorker()).run();
  const left = await database.query(
    'SELECT visited_at IS NULL AS running FROM recoveries ORDER BY id',
  );
  expect(left).toEqual([{ running: false }, { running: true }]);
});

it('removes subscriptions that were deleted before the oldest kept delivery', async () => {
  const deletedFor = async (days: number, columns = {}) => {
    const deleted_at = new Date(Date.now() - days * 24 * 3_600_000).toISOString();
    return aSubscription(database, account, { deleted_at, ...columns });
  };
  await deletedFor(DAYS + 3.1);
  const kept = [
    webhook,
    await deletedFor(DAYS + 2.9),
    await deletedFor(DAYS + 3.1, { cancelling: true }),
  ];
  await database.query('INSERT INTO webhook_successes SELECT id, now() FROM webhooks');
  await database.query('TRUNCATE webhook_losses');
  await database.query(
    `INSERT INTO webhook_losses SELECT $1, now() - n * interval '1 hour', 1, now() FROM unnest(ARRAY[47, 49]) n`,
    [webhook],
  );
  await (await aWorker()).run();
  // Even if a worker asks for fewer days.
  await storeOf(await connections('worker')).run(statement('SELECT forget_webhooks(1, 1000)'));
  expect(await database.query('SELECT FROM webhook_losses')).toHaveLength(1);
  expect(await database.query('SELECT FROM webhook_successes')).toHaveLength(kept.length);
  const left = await database.query<{ id: string }>('SELECT id FROM webhooks ORDER BY id');
  expect(left.map(({ id }) => id)).toEqual(kept);
});

it('deletes idempotency keys after 24 hours, and none that is still valid', async () => {
  await database.query(
    `INSERT INTO idempotency_keys (account_id, key, fingerprint, href, created_at)
     SELECT 1, n || ' hours', ''::bytea, '', now() - n * interval '1 hour' + interval '1 minute'
     FROM unnest(ARRAY[0, 24, 25]) n
     UNION ALL SELECT 1, 'old ' || n, '', '', now() - interval '2 days'
     FROM generate_series(1, 1500) n`,
  );
  await (await aWorker()).run();
  const left = await database.query('SELECT key FROM idempotency_keys ORDER BY key');
  expect(left).toEqual([{ key: '0 hours' }, { key: '24 hours' }]);
});
