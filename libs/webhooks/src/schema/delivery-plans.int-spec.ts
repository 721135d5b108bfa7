import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { EVERY_ACCOUNT, MAX_SCANNED_ROWS, timeOfId } from '#libs/kernel';
import type { Given, Statement } from '#libs/runtime';
import type { Outcome } from '../sending/domain/pending-deliveries.js';
import { LOOK, OLDEST_DUE } from '../sending/due-deliveries.statements.js';
import {
  CLAIM,
  CLAIM_IMMEDIATE,
  CLAIM_PACED,
  HAVE_EARLIER,
} from '../sending/infrastructure/claim.statements.js';
import {
  outcomeValues,
  RECORD,
  RECORD_PLACE,
} from '../sending/infrastructure/outcome.statements.js';
import { LOAD } from '../sending/infrastructure/pending-delivery.statements.js';
import { RELEASE, RELEASE_PLACE } from '../queue/leases.statements.js';
import { type Day, dayAt, dayOf, type Span } from '../partitions/partition-days.js';
import { boundsOf } from '../partitions/row-lookups.js';
import { countReplayable, findReplayable } from '../replays/infrastructure/replay.statements.js';
import { continueReplay, findWaiting } from '../replays/infrastructure/replay-batch.statements.js';
import { listDeliveries } from '../deliveries/infrastructure/delivery-list.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { executing, rowsIn, type Step, type Value } from '../../../../test/support/plans.js';
import { aSubscription, anAccount } from '../../../../test/support/rows.js';

const OTHERS = 20_000;
const WAITING = 200;
const TIMEOUT_MS = 15_000;

let database: TestDatabase;
let client: pg.Client;
let webhook: string;
let waiting: string[];

/** A month of deliveries: with few partitions the planner estimates other costs. */
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

/** How many rows of deliveries and events a statement reads or compares. Its writes are rolled back. */
async function rowsRead(text: string, values: Value[], before = 'SELECT'): Promise<number> {
  await client.query(`DEALLOCATE ALL`);
  await client.query(`PREPARE statement AS ${text}`);
  return rowsReadByPrepared(values, before);
}

async function rowsReadByPrepared(values: Value[], before = 'SELECT'): Promise<number> {
  await client.query('BEGIN');
  await client.query(before);
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${executing(values)}`,
  );
  await client.query('ROLLBACK');
  return rowsIn(rows[0]!['QUERY PLAN'][0]!.Plan, /^(deliveries|events)/);
}

/** Puts the due deliveries onto the queue. */
const LEASED = `UPDATE deliveries
  SET takes = 1, claimed_until = now() + interval '1 hour', next_attempt_at = now() + interval '1 hour'
  WHERE state = 'pending' AND next_attempt_at <= now()`;

const ORDERED = 'UPDATE webhooks SET ordered = true; ';
const PLACES = `UPDATE webhooks SET max_concurrent = ${WAITING}, max_per_second = 1000`;

const REPLAY = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
/** The cursor of a replay that has not started. */
const NOTHING_YET = '00000000-0000-0000-0000-000000000000';
/** A replay of the subscription, whose due deliveries are all exhausted. */
const REPLAYED = `UPDATE deliveries SET state = 'exhausted'
    WHERE state = 'pending' AND next_attempt_at <= now();
  INSERT INTO replays (id, webhook_id, account_id, since, until, states, total)
  SELECT '${REPLAY}', max(id), 1, now() - interval '20 days', now() + interval '1 s',
    '{exhausted,cancelled}', 0 FROM webhooks;
  INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
  SELECT '${REPLAY}', 1, max(id), 1, '${NOTHING_YET}' FROM webhooks`;

const TODAY = dayAt(new Date());
/** The most days that a statement may cover, some of them without partitions yet. */
const DAYS: Span = { first: TODAY - 8, last: TODAY + 8 };

type StatementCase = [
  name: string,
  text: (day: Day) => string,
  before: string,
  values: () => Value[],
];

function aCase<Values extends object>(
  name: string,
  statementOf: (day: Day) => Statement<Values>,
  before: string,
  ...values: (() => Values)[]
): StatementCase {
  const given = () => values.map((each) => each()) as Given<Values>;
  return [
    name,
    (day) => statementOf(day).text,
    before,
    () => statementOf(TODAY).valuesOf(...given()) as Value[],
  ];
}

const outcome = (): Outcome => ({
  id: '',
  lease: 1,
  attempt: { number: 1, at: new Date(), durationMs: 1, status: 200, truncated: false },
  conclusion: { state: 'succeeded' },
  scheduleBase: 0,
  ifRestarted: { state: 'succeeded' },
});
const outcomes = () => outcomeValues(waiting.map((id) => ({ ...outcome(), id })));
const claims = () => ({
  webhookIds: [webhook],
  most: [WAITING],
  dueForMs: [1e12],
  probes: [],
  timeoutMs: TIMEOUT_MS,
});
const leases = () => ({ ids: waiting, leases: waiting.map(() => 1) });
const releases = () => ({
  ...leases(),
  delaysMs: waiting.map(() => 0),
  timeoutMs: TIMEOUT_MS,
});
const pacedClaims = () => ({ ...claims(), behind: [] });

/** What a replay sends, with every filter. */
const selected = () => ({
  until: new Date().toISOString(),
  states: ['exhausted', 'cancelled'] as const,
  ...{ event: 'cdrCreated', applicationId: '1', status: '5xx', recoveredSince: undefined },
});

const PATH: StatementCase[] = [
  aCase('loads', LOAD, LEASED, leases),
  aCase('releases', RELEASE, LEASED, releases),
  aCase('records', RECORD, LEASED, () => ({ ...outcomes(), worker: 'worker' })),
  aCase('claims', CLAIM, 'SELECT', claims),
  aCase(
    'claims immediate deliveries of',
    CLAIM_IMMEDIATE,
    "UPDATE deliveries SET immediate = true WHERE state = 'pending' AND next_attempt_at <= now()",
    claims,
  ),
  aCase('looks for', LOOK, 'SELECT', () => ({ after: '0', limit: 500 })),
  aCase('tells the age of', OLDEST_DUE, 'SELECT'),
];

const STATEMENTS: StatementCase[] = [
  ...PATH,
  aCase('releases in order', RELEASE_PLACE, ORDERED + LEASED, releases),
  aCase('records in order', RECORD_PLACE, ORDERED + LEASED, () => {
    return { ...outcomes(), worker: 'worker' };
  }),
  aCase('claims at a pace', CLAIM_PACED, PLACES, pacedClaims),
  aCase('claims in order', CLAIM_PACED, ORDERED, pacedClaims),
  aCase('looks in order for', LOOK, ORDERED, () => ({ after: '0', limit: 500 })),
  aCase('finds earlier', HAVE_EARLIER, 'SELECT', () => ({ webhookIds: [webhook] })),
  aCase(
    'counts due',
    () => findWaiting(DAYS),
    'SELECT',
    () => ({ webhookId: webhook, limit: WAITING }),
  ),
  aCase(
    'finds more of a replay of',
    () => findReplayable(DAYS),
    REPLAYED,
    () => ({
      ...selected(),
      webhookId: webhook,
      after: NOTHING_YET,
      limit: WAITING,
    }),
  ),
  aCase(
    'counts for a replay',
    () => countReplayable(DAYS),
    REPLAYED,
    () => ({
      ...selected(),
      webhookIds: [webhook],
      afters: [NOTHING_YET],
      limit: MAX_SCANNED_ROWS,
    }),
  ),
  aCase(
    'brings forward',
    () => continueReplay(DAYS),
    `${REPLAYED};
     UPDATE deliveries SET state = 'pending', next_attempt_at = now() + interval '1 h'
       WHERE state = 'exhausted';
     UPDATE replays SET states = '{pending}'`,
    () => ({
      id: REPLAY,
      webhookId: webhook,
      after: NOTHING_YET,
      to: waiting.at(-1)!,
      isEnd: true,
      deliveryIds: waiting,
    }),
  ),
  aCase(
    'replays',
    () => continueReplay(DAYS),
    REPLAYED,
    () => ({
      id: REPLAY,
      webhookId: webhook,
      after: NOTHING_YET,
      to: waiting.at(-1)!,
      isEnd: true,
      deliveryIds: waiting,
    }),
  ),
];

describe.each(['force_generic_plan', 'force_custom_plan'])('with %s', (mode) => {
  beforeEach(async () => {
    await client.query(`SET plan_cache_mode = ${mode}`);
  });

  it.each(STATEMENTS)(
    '%s deliveries without reading others, however many are pending',
    async (...args) => {
      const [, textOf, before, values] = args;
      const text = textOf(dayOf(waiting[0]!));
      expect(await rowsRead(text, values(), before)).toBeLessThan(10 * WAITING);
      await client.query('ANALYZE');
      expect(await rowsRead(text, values(), before)).toBeLessThan(10 * WAITING);
    },
  );
});

describe('planned at the start of the day', () => {
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

  /** Deliveries of one subscription, each from an event that was reported alone. */
  const insertMany = () =>
    begun.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(date_trunc('day', now(), 'UTC') + n * interval '1 ms', n), new_uuid(now(), 0), w.id, 1, 'cdrCreated', 1,
         now(), now()
       FROM webhooks w, generate_series(1, $1) n`,
      [OTHERS],
    );

  it.each(PATH.filter(([name]) => ['loads', 'releases', 'records'].includes(name)))(
    '%s deliveries without reading others that were added after planning',
    async (...args) => {
      const [, textOf, before, values] = args;
      await client.query('DEALLOCATE ALL');
      await client.query('DELETE FROM deliveries');
      await client.query(`PREPARE statement AS ${textOf(dayAt(new Date()))}`);
      await rowsReadByPrepared(values());
      await insertMany();
      const all = await begun.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id');
      waiting = all.map(({ id }) => id).filter((_, index) => index % (OTHERS / WAITING) === 0);
      const read = await rowsReadByPrepared(values(), before);
      expect(read).toBeGreaterThanOrEqual(WAITING);
      expect(read).toBeLessThan(10 * WAITING);
    },
  );
});

/** A statement for one delivery is expected to cost least, so that no other plan would seem better. */
const aFew = (value: Value): Value => (Array.isArray(value) ? value.slice(0, 1) : value);

/** The days of the partitions that a plan scans. */
function daysScanned(step: Step): Set<string> {
  const day = /^(?:deliveries|events)_(\w+)$/.exec(step['Relation Name'] ?? '')?.[1];
  const inner = (step.Plans ?? []).flatMap((plan) => [...daysScanned(plan)]);
  return new Set(day === undefined ? inner : [day, ...inner]);
}

it.each(PATH)('%s deliveries with one plan, which opens one partition', async (...args) => {
  const [, textOf, , values] = args;
  await client.query('RESET plan_cache_mode');
  await client.query('DEALLOCATE ALL');
  await client.query(`PREPARE statement AS ${textOf(dayOf(waiting[0]!))}`);
  const run = executing(values().map(aFew));
  await client.query('BEGIN');
  for (let times = 0; times < 10; times += 1) await client.query(run);
  // PostgreSQL makes five custom plans before it considers a generic one.
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

const ANY: Omit<Parameters<ReturnType<typeof listDeliveries>['valuesOf']>[0], 'limit'> = {
  ...{ accountId: EVERY_ACCOUNT, webhookId: undefined, applicationId: undefined, state: undefined },
  ...{ eventIds: undefined },
  ...{ event: undefined, status: undefined, since: undefined, until: undefined, after: undefined },
};

it.each(['exhausted', 'cancelled', 'pending', 'parked'] as const)(
  'lists %s deliveries without reading all succeeded ones',
  async (state) => {
    await client.query(`SET plan_cache_mode = force_custom_plan`);
    await client.query('ANALYZE');
    const page = { ...ANY, webhookId: webhook, limit: 100, state };
    const { text, valuesOf } = listDeliveries(state, DAYS, 'webhook');
    expect(await rowsRead(text, valuesOf(page) as Value[])).toBeLessThan(10 * WAITING);
  },
);

it('reads no more than ten thousand cancelled deliveries to find exhausted ones', async () => {
  await client.query(`SET plan_cache_mode = force_custom_plan`);
  const cancelled = `UPDATE deliveries SET state = 'cancelled' WHERE webhook_id = ${webhook}; ANALYZE`;
  const { text, valuesOf } = listDeliveries('exhausted', DAYS, 'webhook');
  const page = { ...ANY, webhookId: webhook, limit: 100 };
  const read = await rowsRead(
    text,
    valuesOf({ ...page, state: 'exhausted' }) as Value[],
    cancelled,
  );
  expect(read).toBeLessThan(MAX_SCANNED_ROWS + 2 * WAITING);
});

it('lists the newest deliveries of an account without reading those of others', async () => {
  const few = await anAccount(database);
  const subscription = await aSubscription(database, few);
  await database.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
     SELECT new_uuid(now() - interval '2 ms', n), new_uuid(now(), 0), $1, $2, 'cdrCreated', 1,
       'succeeded', now()
     FROM generate_series(1, 20) n`,
    [subscription, few],
  );
  await client.query(`SET plan_cache_mode = force_custom_plan`);
  await client.query('ANALYZE');
  const readFor = async (change: Partial<typeof ANY>) => {
    const page = { ...ANY, limit: 100, ...change };
    const owner = change.webhookId === undefined ? 'account' : 'webhook';
    const { text, valuesOf } = listDeliveries(undefined, DAYS, owner);
    return rowsRead(text, valuesOf(page) as Value[]);
  };
  expect(await readFor({ accountId: few })).toBeLessThan(WAITING);
  expect(await readFor({ accountId: few, webhookId: subscription })).toBeLessThan(WAITING);
  // All of these are the account's, and one subscription has none of them.
  expect(await readFor({ accountId: '1', webhookId: subscription })).toBeLessThan(WAITING);
  // The subscription is another account's, and has very many.
  expect(await readFor({ accountId: few, webhookId: webhook })).toBe(0);
});

it.each(['account', 'webhook'] as const)(
  'lists deliveries of the %s with most of a day, but none of the newest, without reading those',
  async (owner) => {
    const newest = `DELETE FROM deliveries WHERE webhook_id <> ${webhook};
      INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
      SELECT new_uuid(now() + interval '1 ms', n), new_uuid(now(), 0), 0, 0, 'cdrCreated', 1,
        'succeeded', now()
      FROM generate_series(1, ${OTHERS / 4}) n;
      ANALYZE`;
    await client.query(`SET plan_cache_mode = force_custom_plan`);
    const { text, valuesOf } = listDeliveries(undefined, DAYS, owner);
    const of = owner === 'account' ? { accountId: '1' } : { webhookId: webhook };
    const values = valuesOf({ ...ANY, ...of, limit: 100 }) as Value[];
    expect(await rowsRead(text, values, newest)).toBeLessThan(2 * WAITING);
  },
);

it.each([undefined, 'account'] as const)(
  'lists the deliveries of an event without reading those of others (owner: %s)',
  async (owner) => {
    const [first] = await database.query<{ event: string }>(
      `WITH e AS MATERIALIZED (SELECT new_uuid(now() - interval '1 s', 0) AS id)
       INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
       SELECT new_uuid(now() - interval '1 s', n), e.id, $1, 1, 'cdrCreated', 1, 'succeeded', now()
       FROM e, generate_series(1, 20) n RETURNING event_id AS event`,
      [webhook],
    );
    const eventId = first!.event;
    await client.query(`SET plan_cache_mode = force_custom_plan`);
    await client.query('ANALYZE');
    const accountId = owner ? '1' : EVERY_ACCOUNT;
    const place = { since: timeOfId(eventId).toISOString(), after: boundsOf(eventId).greatest };
    const { text, valuesOf } = listDeliveries(undefined, DAYS, owner);
    const page = { ...ANY, ...place, accountId, eventIds: [eventId], limit: 100 };
    const read = await rowsRead(text, valuesOf(page) as Value[]);
    expect(read).toBeGreaterThanOrEqual(20);
    expect(read).toBeLessThan(100);
  },
);

it('lists deliveries of an application without reading the events of others', async () => {
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(now(), n), 1, 'cdrCreated', 'call', now(), now(), '{}' FROM generate_series(1, $1) n`,
    [OTHERS],
  );
  await client.query(`SET plan_cache_mode = force_custom_plan`);
  await client.query('ANALYZE');
  const { text, valuesOf } = listDeliveries(undefined, DAYS, 'webhook');
  const page = { ...ANY, webhookId: webhook, applicationId: '1', limit: 100 };
  expect(await rowsRead(text, valuesOf(page) as Value[])).toBeLessThan(
    MAX_SCANNED_ROWS + 2 * WAITING,
  );
});

it.each([[['exhausted', 'cancelled']], [['succeeded', 'exhausted']]] as const)(
  'counts and finds %s deliveries of a small subscription for a replay without reading those of others',
  async (states) => {
    const few = await anAccount(database);
    const subscription = await aSubscription(database, few);
    await database.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
       SELECT new_uuid(now() + interval '1 s', n), new_uuid(now(), 0), $1, $2, 'cdrCreated', 1,
         CASE WHEN n % 2 = 0 THEN 'exhausted' ELSE 'succeeded' END, now()
       FROM generate_series(1, 20) n`,
      [subscription, few],
    );
    await client.query(`SET plan_cache_mode = force_custom_plan`);
    const read = async () => {
      const values = { ...selected(), until: new Date(Date.now() + 60_000).toISOString(), states };
      const found = findReplayable(DAYS);
      const counted = countReplayable(DAYS);
      return [
        await rowsRead(
          found.text,
          found.valuesOf({
            ...{ ...values, webhookId: subscription, after: NOTHING_YET, limit: 500 },
          }) as Value[],
        ),
        await rowsRead(
          counted.text,
          counted.valuesOf({
            ...{
              ...values,
              webhookIds: [subscription],
              afters: [NOTHING_YET],
              limit: MAX_SCANNED_ROWS,
            },
          }) as Value[],
        ),
      ];
    };
    for (const rows of await read()) expect(rows).toBeLessThan(WAITING);
    await client.query('ANALYZE');
    for (const rows of await read()) expect(rows).toBeLessThan(WAITING);
    // Nearly all others are of one subscription, so the planner expects many of any.
    await database.query(`DELETE FROM deliveries WHERE webhook_id NOT IN ($1, $2)`, [
      subscription,
      webhook,
    ]);
    await database.query(`UPDATE deliveries SET state = 'exhausted' WHERE webhook_id = $1`, [
      webhook,
    ]);
    await client.query('ANALYZE');
    for (const rows of await read()) expect(rows).toBeLessThan(WAITING);
  },
);

it('looks for due deliveries without reading finished ones, even if statistics claim that many are pending', async () => {
  await database.query('ANALYZE deliveries');
  await database.query(`UPDATE deliveries SET state = 'succeeded' WHERE state = 'pending'`);
  // Removes the finished ones from the index and keeps the statistics of the states.
  await database.query('VACUUM deliveries');
  const [blocks] = await database.query<{ count: number }>(
    `SELECT sum(pg_relation_size(relid) / 8192)::int AS count
     FROM pg_partition_tree('deliveries') WHERE isleaf`,
  );
  const { text, valuesOf } = LOOK(dayOf(waiting[0]!));
  const read = await blocksRead(text, valuesOf({ after: '0', limit: 500 }));
  expect(read).toBeLessThan(blocks!.count / 2);
});

it('claims due deliveries without scanning finished ones that a long snapshot still sees', async () => {
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
  const { text, valuesOf } = CLAIM(dayOf(done[0]!.id));
  const claim = (dueForMs: number) =>
    blocksRead(
      text,
      valuesOf({ ...claims(), webhookIds: [other], most: [1], dueForMs: [dueForMs] }),
    );
  const [all, since] = [await claim(1e12), await claim(10_000)];
  await snapshot.query('ROLLBACK');
  await snapshot.end();
  // The first claim scans them, so they are still in the index.
  expect(all).toBeGreaterThan(OTHERS / 100);
  expect(since).toBeLessThan(all / 4);
});

/** Blocks of tables and indexes that a statement reads. Its writes are rolled back. */
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
