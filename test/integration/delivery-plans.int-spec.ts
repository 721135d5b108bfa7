import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { listDeliveries } from '../../libs/webhooks/src/deliveries/infrastructure/delivery.statements.js';
import {
  LOOK,
  OLDEST_DUE,
} from '../../libs/webhooks/src/deliveries/infrastructure/due-deliveries.statements.js';
import { RECORD } from '../../libs/webhooks/src/deliveries/infrastructure/outcome.statements.js';
import {
  CLAIM,
  CLAIM_TESTS,
  RELEASE,
  TAKE,
} from '../../libs/webhooks/src/deliveries/infrastructure/pending-delivery.statements.js';
import {
  type Day,
  dayOf,
} from '../../libs/webhooks/src/deliveries/infrastructure/partition-days.js';
import {
  dayAt,
  type Span,
} from '../../libs/webhooks/src/deliveries/infrastructure/partition-walk.js';
import {
  continueReplay,
  findReplayable,
  findWaiting,
} from '../../libs/webhooks/src/deliveries/infrastructure/replay.statements.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aSubscription, anAccount } from '../support/rows.js';

/** What EXPLAIN (ANALYZE) tells of a step of a plan. */
interface Step {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Step[];
}

type Scalar = string | number | boolean | null;
type Value = Scalar | Scalar[];

const OTHERS = 20_000;
const WAITING = 200;
const TIMEOUT_MS = 15_000;

let database: TestDatabase;
let client: pg.Client;
let webhook: string;
let waiting: string[];

/** A month of deliveries: with few partitions the planner reckons otherwise. */
const PAST_MONTH = `
DO $$ BEGIN
  FOR days IN 1..30 LOOP
    EXECUTE format('CREATE TABLE deliveries_past_%s PARTITION OF deliveries FOR VALUES FROM (%L) TO (%L)',
      days, least_uuid(date_trunc('day', now(), 'UTC') - make_interval(days => days)),
      least_uuid(date_trunc('day', now(), 'UTC') - make_interval(days => days - 1)));
    INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state,
      completed_at, created_at)
    SELECT new_uuid(date_trunc('day', now(), 'UTC') - make_interval(days => days), n),
      new_uuid(now(), 0), n, n, 'cdrCreated', 1, 'succeeded', now(), now()
    FROM generate_series(1, 500) n;
  END LOOP;
END $$`;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(PAST_MONTH);
  const dead = await aSubscription(database, await anAccount(database));
  webhook = await aSubscription(database, await anAccount(database));
  await database.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
       next_attempt_at, created_at)
     SELECT new_uuid(now(), n), new_uuid(now(), 0), $1, 1, 'cdrCreated', 1,
       now() + interval '1 hour', now()
     FROM generate_series(1, $2) n`,
    [dead, OTHERS],
  );
  await database.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state,
       completed_at, created_at)
     SELECT new_uuid(now() - interval '1 ms', n), new_uuid(now(), 0), $1, 1, 'cdrCreated', 1,
       'succeeded', now(), now()
     FROM generate_series(1, $2) n`,
    [webhook, OTHERS],
  );
  const made = await database.query<{ id: string }>(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
       next_attempt_at, created_at)
     SELECT new_uuid(now(), n), new_uuid(now(), 0), $1, 1, 'cdrCreated', 1, now(), now()
     FROM generate_series(1, $2) n RETURNING id`,
    [webhook, WAITING],
  );
  waiting = made.map(({ id }) => id);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** How many rows of deliveries a statement reads, or compares. What it writes is taken back. */
async function rowsRead(text: string, values: Value[], before = 'SELECT'): Promise<number> {
  await client.query(`DEALLOCATE ALL`);
  await client.query(`PREPARE statement AS ${text}`);
  return rowsReadByPrepared(values, before);
}

async function rowsReadByPrepared(values: Value[], before = 'SELECT'): Promise<number> {
  await client.query('BEGIN');
  await client.query(before);
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE statement${values.length === 0 ? '' : `(${values.map(literal).join(', ')})`}`,
  );
  await client.query('ROLLBACK');
  return readBy(rows[0]!['QUERY PLAN'][0]!.Plan);
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  return Array.isArray(value) ? `'{${value.map(element).join(',')}}'` : `'${String(value)}'`;
}

function element(value: Scalar): string {
  return value === null ? 'NULL' : `"${String(value)}"`;
}

function readBy(step: Step): number {
  const ofStep = step['Relation Name']?.startsWith('deliveries')
    ? (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
    : 0;
  const compared = (step['Rows Removed by Join Filter'] ?? 0) * step['Actual Loops'];
  return (step.Plans ?? []).reduce((sum, inner) => sum + readBy(inner), ofStep + compared);
}

const ones = () => waiting.map(() => 1);
const each = (value: Scalar) => waiting.map(() => value);

/** On the queue. */
const QUEUED = `UPDATE deliveries SET claimed_until = now() + interval '1 hour'
  WHERE state = 'pending' AND next_attempt_at <= now()`;
const LEASED = QUEUED.replace('SET', "SET takes = 1, next_attempt_at = now() + interval '1 hour',");

const REPLAY = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
/** How far it came. */
const NOTHING_YET = '00000000-0000-0000-0000-000000000000';
/** Of the subscription, with all that waits for it now exhausted. */
const REPLAYED = `UPDATE deliveries SET state = 'exhausted'
    WHERE state = 'pending' AND next_attempt_at <= now();
  INSERT INTO replays (id, webhook_id, account_id, generation, since, until, states, total, after)
  SELECT '${REPLAY}', max(id), 1, 1, now() - interval '20 days', now() + interval '1 s',
    '{exhausted,cancelled}', 0, '${NOTHING_YET}' FROM webhooks`;

const TODAY = dayAt(new Date());
/** As many days as a statement may be about, with those of which there are no partitions yet. */
const DAYS: Span = { first: TODAY - 8, last: TODAY + 8 };

type StatementCase = [
  name: string,
  text: (day: Day) => string,
  before: string,
  values: () => Value[],
];

const PATH: StatementCase[] = [
  ['takes', (day) => TAKE(day).text, QUEUED, () => [waiting, each(0), TIMEOUT_MS]],
  ['releases', (day) => RELEASE(day).text, LEASED, () => [waiting, ones(), TIMEOUT_MS]],
  [
    'records',
    (day) => RECORD(day).text,
    LEASED,
    () => [
      ...[waiting, ones(), ones(), each(new Date().toISOString()), ones(), each(200)],
      ...[each(null), each(null), each(null), each(null), each(false)],
      ...[each(0), each('succeeded'), each(null), each(null)],
      ...[each('succeeded'), each(null), each(null), 'worker'],
    ],
  ],
  [
    'claims',
    (day) => CLAIM(day).text,
    'SELECT',
    () => [[webhook], [WAITING], [1e12], [], TIMEOUT_MS],
  ],
  [
    'claims tests of',
    (day) => CLAIM_TESTS(day).text,
    "UPDATE deliveries SET immediate = true WHERE state = 'pending' AND next_attempt_at <= now()",
    () => [[webhook], [WAITING], [1e12], [], TIMEOUT_MS],
  ],
  ['looks for', (day) => LOOK(day).text, 'SELECT', () => ['0', 500]],
  ['tells the age of', (day) => OLDEST_DUE(day).text, 'SELECT', () => []],
];

const STATEMENTS: StatementCase[] = [
  ...PATH,
  ['counts due', () => findWaiting(DAYS).text, 'SELECT', () => [webhook, WAITING]],
  [
    'finds more of a replay of',
    () => findReplayable(DAYS).text,
    REPLAYED,
    () => [webhook, NOTHING_YET, new Date().toISOString(), ['exhausted', 'cancelled'], WAITING],
  ],
  [
    'replays',
    () => continueReplay(DAYS).text,
    REPLAYED,
    () => [REPLAY, NOTHING_YET, waiting, waiting.at(-1)!, true],
  ],
];

describe.each(['force_generic_plan', 'force_custom_plan'])('with %s', (mode) => {
  beforeEach(async () => {
    await client.query(`SET plan_cache_mode = ${mode}`);
  });

  it.each(STATEMENTS)(
    '%s deliveries without reading others, however many wait',
    async (...args) => {
      const [, textOf, before, values] = args;
      const text = textOf(dayOf(waiting[0]!));
      expect(await rowsRead(text, values(), before)).toBeLessThan(10 * WAITING);
      await client.query('ANALYZE');
      expect(await rowsRead(text, values(), before)).toBeLessThan(10 * WAITING);
    },
  );
});

describe('planned when the day has just begun', () => {
  let begun: TestDatabase;
  let usual: [pg.Client, string[]];

  beforeAll(async () => {
    begun = await createTestDatabase();
    usual = [client, waiting];
    client = new pg.Client({ connectionString: begun.url });
    await client.connect();
    await client.query(`SET plan_cache_mode = force_generic_plan`);
    await aSubscription(begun, await anAccount(begun));
  });
  afterAll(async () => {
    await client.end();
    [client, waiting] = usual;
    await begun.drop();
  });

  /** Of one subscription, each reported by itself. */
  const manyCome = () =>
    begun.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(date_trunc('day', now(), 'UTC') + n * interval '1 ms', n), new_uuid(now(), 0), w.id, 1, 'cdrCreated', 1,
         now(), now()
       FROM webhooks w, generate_series(1, $1) n`,
      [OTHERS],
    );

  it.each(PATH.filter(([name]) => ['takes', 'releases', 'records'].includes(name)))(
    '%s deliveries without reading others that came since',
    async (...args) => {
      const [, textOf, before, values] = args;
      await client.query('DEALLOCATE ALL');
      await client.query('DELETE FROM deliveries');
      await client.query(`PREPARE statement AS ${textOf(dayAt(new Date()))}`);
      await rowsReadByPrepared(values());
      await manyCome();
      const all = await begun.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id');
      waiting = all.map(({ id }) => id).filter((_, index) => index % (OTHERS / WAITING) === 0);
      const read = await rowsReadByPrepared(values(), before);
      expect(read).toBeGreaterThanOrEqual(WAITING);
      expect(read).toBeLessThan(10 * WAITING);
    },
  );
});

/** The days of the partitions that a plan scans. */
function daysScanned(step: Step): Set<string> {
  const day = /^(?:deliveries|events)_(\w+)$/.exec(step['Relation Name'] ?? '')?.[1];
  const inner = (step.Plans ?? []).flatMap((plan) => [...daysScanned(plan)]);
  return new Set(day === undefined ? inner : [day, ...inner]);
}

it.each(PATH)('%s deliveries by one plan, which opens one partition', async (...args) => {
  const [, textOf, , values] = args;
  await client.query('RESET plan_cache_mode');
  await client.query('DEALLOCATE ALL');
  await client.query(`PREPARE statement AS ${textOf(dayOf(waiting[0]!))}`);
  const run = `EXECUTE statement${values().length === 0 ? '' : `(${values().map(literal).join(', ')})`}`;
  await client.query('BEGIN');
  for (let times = 0; times < 10; times += 1) await client.query(run);
  // PostgreSQL plans five times before it compares.
  const { rows: counts } = await client.query<{ custom_plans: string }>(
    'SELECT custom_plans FROM pg_prepared_statements',
  );
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (FORMAT JSON) ${run}`,
  );
  const { rows: locks } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM pg_locks WHERE pid = pg_backend_pid()',
  );
  await client.query('ROLLBACK');
  expect(Number(counts[0]?.custom_plans)).toBeLessThanOrEqual(5);
  expect(daysScanned(rows[0]!['QUERY PLAN'][0]!.Plan).size).toBe(1);
  expect(locks[0]?.count).toBeLessThan(60);
});

it.each(['exhausted', 'cancelled', 'pending', 'parked'] as const)(
  'lists what is %s without reading all that succeeded',
  async (state) => {
    await client.query(`SET plan_cache_mode = force_custom_plan`);
    await client.query('ANALYZE');
    const values = [webhook, null, 100, state, null, null, null];
    expect(await rowsRead(listDeliveries(state, DAYS).text, values)).toBeLessThan(10 * WAITING);
  },
);

it('looks for what is due without reading what is done, though statistics tell of much pending', async () => {
  await database.query('ANALYZE deliveries');
  await database.query(`UPDATE deliveries SET state = 'succeeded' WHERE state = 'pending'`);
  // Takes the ended ones out of the index, and leaves the statistics of the states as they were.
  await database.query('VACUUM deliveries');
  const [blocks] = await database.query<{ count: number }>(
    `SELECT sum(pg_relation_size(relid) / 8192)::int AS count
     FROM pg_partition_tree('deliveries') WHERE isleaf`,
  );
  expect(await blocksRead(LOOK(dayOf(waiting[0]!)).text, ['0', 500])).toBeLessThan(
    blocks!.count / 2,
  );
});

it('claims what is due without passing over what is done but seen by a long snapshot', async () => {
  const other = await aSubscription(database, await anAccount(database));
  const due = (count: number, when: string) =>
    database.query<{ id: string }>(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(now(), n), new_uuid(now(), 0), $1, 1, 'cdrCreated', 1, ${when}, now()
       FROM generate_series(1, $2) n RETURNING id`,
      [other, count],
    );
  const done = await due(OTHERS, `now() - interval '1 minute'`);
  const snapshot = new pg.Client({ connectionString: database.url });
  await snapshot.connect();
  await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await snapshot.query('SELECT 1 FROM deliveries LIMIT 1');
  await database.query(
    `UPDATE deliveries SET state = 'succeeded', next_attempt_at = NULL WHERE webhook_id = $1`,
    [other],
  );
  await due(WAITING, 'now()');
  await database.query('ANALYZE deliveries');
  const { text } = CLAIM(dayOf(done[0]!.id));
  const claim = (dueForMs: number) => blocksRead(text, [[other], [1], [dueForMs], [], TIMEOUT_MS]);
  const [all, since] = [await claim(1e12), await claim(10_000)];
  await snapshot.query('ROLLBACK');
  await snapshot.end();
  // The first one meets them, so they are there.
  expect(all).toBeGreaterThan(OTHERS / 100);
  expect(since).toBeLessThan(all / 4);
});

/** Blocks of tables and indexes that a statement reads. What it writes is taken back. */
async function blocksRead(text: string, values: unknown[]): Promise<number> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values,
  );
  await client.query('ROLLBACK');
  const plan = rows[0]!['QUERY PLAN'][0]!.Plan;
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}
