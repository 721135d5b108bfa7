import { Client as PostgresClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { partitionsOf, pastDeliveries } from '../support/past.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';

const RECOVER = '/v1/overview/recover';
const NOTHING = { subscriptions: 0, circuitsClosed: 0, switchedOn: 0, deliveries: 0 };

/** SQL of a time. */
const ago = (minutes: number) => `now() - interval '${minutes} minutes'`;

let database: TestDatabase;
let environment: Record<string, string>;
let api: Running;
let worker: Running | undefined;
let receiver: Receiver;
let platform: Client;
let operatorId: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await partitionsOf(database, 1);
  environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_TIMEOUT_MS: '2000',
  };
  api = await apiInProcess(environment);
  const operator = await createUser(database, 'operator', 'platform');
  operatorId = operator.id;
  platform = clientOf(api.url, operator.auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});
beforeEach(async () => {
  await database.query(
    'TRUNCATE webhooks, events, event_keys, deliveries, attempts, attempt_counts, replays, replay_parts, recoveries',
  );
  receiver = await startReceiver();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await receiver.close();
});

async function aCustomer(): Promise<{ id: string; client: Client }> {
  customers += 1;
  const { id, auth } = await createUser(database, `customer-${customers}`);
  return { id, client: clientOf(api.url, auth) };
}

/** An outage of an hour, until five minutes ago. */
function anOutage(): { since: string; until: string } {
  const time = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
  return { since: time(65), until: time(5) };
}

const set = (webhook: string, values: string) =>
  database.query(`UPDATE webhooks SET ${values} WHERE id = ${webhook}`);

/** Attempts half an hour ago, which failed by twenty to one with this outcome. */
async function failedWith(webhook: string, outcome: string): Promise<void> {
  await database.query(
    `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
     SELECT account_id, id, date_bin('5 minutes', ${ago(30)}, 'epoch'), outcome, 0, count
     FROM webhooks, (VALUES ($2, 20), ('4xx', 1)) AS c(outcome, count) WHERE id = $1`,
    [webhook, outcome],
  );
}

/** A subscription of the account whose circuit opened some minutes ago, after failures that began before the outage. */
async function anOpenCircuit(
  account: string,
  { outcome = 'refused', minutesAgo = 30 } = {},
): Promise<string> {
  const webhook = await aSubscription(database, account, { target_url: receiver.url });
  await set(
    webhook,
    `failures = 10, openings = 4, failing_since = ${ago(80)}, opened_at = ${ago(minutesAgo)},
     open_until = now() + interval '20 minutes'`,
  );
  await failedWith(webhook, outcome);
  return webhook;
}

/** A delivery that ended some minutes ago with this result of its last attempt. @returns its id */
async function lost(
  webhook: string,
  endedMinutesAgo: number,
  {
    state = 'exhausted',
    reason = 'no_attempts_left',
    result = `error = 'timeout', status = NULL`,
  } = {},
): Promise<string> {
  const [id] = await pastDeliveries(database, webhook, {
    daysAgo: 0.125,
    columns: { state: `'${state}'`, reason: `'${reason}'`, completed_at: ago(endedMinutesAgo) },
  });
  await database.query(`UPDATE attempts SET ${result} WHERE delivery_id = $1`, [id]);
  return id!;
}

/** Stores an event of ten minutes ago without deliveries. */
const missed = (account: string) =>
  database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at, '{}' FROM (SELECT ${ago(10)} AS at) t`,
    [account],
  );

const count = async (): Promise<object> => {
  const answer = await platform.post(RECOVER, { ...anOutage(), dryRun: true });
  expect(answer.status).toBe(200);
  return answer.json();
};

/** @returns the path of the recovery */
async function recover(): Promise<string> {
  const answer = await platform.post(RECOVER, anOutage());
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return new URL(answer.json<{ href: string }>().href).pathname;
}

const ended = (path: string): Promise<Schemas['Recovery']> =>
  eventually(
    async () => (await platform.get(path)).json<Schemas['Recovery']>(),
    ({ state }) => state === 'completed',
    { ms: 30_000 },
  );

const health = (webhook: string) =>
  database.query(
    `SELECT enabled, disabled_reason, failures, failing_since IS NOT NULL AS failing, open_until IS NOT NULL AS open
     FROM webhooks WHERE id = $1`,
    [webhook],
  );
const HEALTHY = { enabled: true, disabled_reason: null, failures: 0, failing: false, open: false };

/** The newest entries first, as an account sees them. */
const audit = async (client: Client, query: string) =>
  (await client.get(`/v1/audit?${query}`)).json<Record<string, unknown>[]>();

it('recovers what failed without an answer, counts it beforehand, and finds nothing the second time', async () => {
  const [one, other, third] = [await aCustomer(), await aCustomer(), await aCustomer()];
  const silent = await anOpenCircuit(one.id);
  const answering = await anOpenCircuit(other.id, { outcome: '5xx' });
  const openBefore = await anOpenCircuit(other.id, { minutesAgo: 70 });
  const sentBefore = await lost(silent, 90);
  const again = [await lost(silent, 20)];
  await lost(silent, 20, { result: `status = 500` });
  await lost(answering, 20);
  // On its own again: only what it lost is left.
  const closed = await aSubscription(database, one.id, { target_url: receiver.url });
  await failedWith(closed, 'dns');
  again.push(await lost(closed, 6));
  const off = await aSubscription(database, third.id, { target_url: receiver.url });
  await failedWith(off, 'timeout');
  again.push(await lost(off, 25), await lost(off, 20, { state: 'cancelled', reason: 'failing' }));
  await lost(off, 20, { state: 'cancelled', reason: 'requested' });
  await missed(third.id);
  await set(
    off,
    `enabled = false, disabled_reason = 'failing', disabled_at = ${ago(20)}, failing_since = ${ago(7_300)}`,
  );
  const byCustomer = await aSubscription(database, third.id, { target_url: receiver.url });
  await failedWith(byCustomer, 'timeout');
  await lost(byCustomer, 20);
  await set(byCustomer, 'enabled = false');

  const expected = { subscriptions: 3, circuitsClosed: 1, switchedOn: 1, deliveries: 5 };
  expect(await count()).toEqual(expected);
  expect(await health(silent)).toMatchObject([{ open: true }]);
  worker = await workerInProcess(environment);
  expect(await ended(await recover())).toMatchObject({ ...expected, sent: 5 });
  for (const webhook of [silent, closed, off]) expect(await health(webhook)).toEqual([HEALTHY]);
  expect(await health(answering)).toMatchObject([{ failures: 10, open: true }]);
  expect(await health(openBefore)).toMatchObject([{ failures: 10, open: true }]);
  expect(await health(byCustomer)).toMatchObject([{ enabled: false }]);
  await receiver.until((received) => received.length === 5);
  const ids = receiver.received.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(again));
  expect(ids).not.toContain(sentBefore);

  const ACTION = { action: 'webhook.recover', actor: 'platform' };
  expect(await audit(one.client, 'action=webhook.recover')).toMatchObject([
    { ...ACTION, resourceId: closed },
    { ...ACTION, resourceId: silent },
  ]);
  expect(await audit(other.client, 'action=webhook.recover')).toEqual([]);
  const [entry] = await audit(platform, `accountId=${third.id}&action=webhook.recover`);
  expect(entry).toMatchObject({
    ...{ resourceId: off, userId: Number(operatorId), actor: 'operator', fields: ['enabled'] },
  });

  expect(await count()).toEqual(NOTHING);
  expect(await ended(await recover())).toMatchObject({ ...NOTHING, sent: 0 });
});

it('continues exactly where a killed worker stopped', async () => {
  const { id, client } = await aCustomer();
  const [first, second] = [await anOpenCircuit(id), await anOpenCircuit(id)];
  await lost(first, 20);
  await lost(second, 20);
  const path = await recover();
  const holder = new PostgresClient({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM webhooks WHERE id = ${second} FOR UPDATE`);
  const killed = await startWorker(environment);
  const progress = async () => (await platform.get(path)).json<Schemas['Recovery']>();
  await eventually(progress, ({ subscriptions }) => subscriptions === 1);
  await killed.kill();
  // PostgreSQL would go on with a statement that waits for a lock, although its client is gone.
  const waiting = () =>
    database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  await eventually(waiting, ({ length }) => length === 0);
  await holder.end();
  expect(await progress()).toMatchObject({ state: 'running', subscriptions: 1 });
  worker = await workerInProcess(environment);
  const expected = { subscriptions: 2, circuitsClosed: 2, deliveries: 2, sent: 2 };
  expect(await ended(path)).toMatchObject(expected);
  const entries = await audit(client, 'action=webhook.recover');
  expect(entries.map(({ resourceId }) => resourceId)).toEqual([second, first]);
});

it('enables a subscription only after its deliveries were cancelled', async () => {
  const { id } = await aCustomer();
  const webhook = await aSubscription(database, id, { target_url: receiver.url });
  await failedWith(webhook, 'reset');
  await pastDeliveries(database, webhook, {
    daysAgo: 0.125,
    columns: { state: `'pending'`, next_attempt_at: ago(25) },
  });
  await set(
    webhook,
    `enabled = false, disabled_reason = 'failing', disabled_at = ${ago(20)}, updated_at = ${ago(20)},
     failing_since = ${ago(7_300)}, generation = 2, cancelling = true`,
  );
  const path = await recover();
  worker = await workerInProcess(environment);
  expect(await ended(path)).toMatchObject({ switchedOn: 1, deliveries: 1, sent: 1 });
  await receiver.until((received) => received.length === 1);
});

it('tells listeners that a subscription has recovered', async () => {
  const { id } = await aCustomer();
  const webhook = await anOpenCircuit(id);
  await aSubscription(database, id, { target_url: receiver.url, event: 'webhookRecovered' });
  worker = await workerInProcess(environment);
  await recover();
  await receiver.until((received) => received.length === 1);
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    event: 'webhookRecovered',
    data: { webhookId: webhook },
  });
});

it('uses up none of the replays that a customer may start', async () => {
  const { id, client } = await aCustomer();
  const webhook = await anOpenCircuit(id);
  await set(webhook, 'paused = true');
  await lost(webhook, 20);
  worker = await workerInProcess(environment);
  await recover();
  const replays = () => database.query('SELECT id FROM replays');
  await eventually(replays, (rows) => rows.length === 1);
  await database.query(
    `INSERT INTO replays SELECT new_uuid(now(), n + 5), webhook_id, account_id, since, until, states, state, total,
       replayed, now(), completed_at, event, application_id, status, missed, recovery_id, parts
     FROM replays, generate_series(1, 30) n`,
  );
  const { since } = anOutage();
  expect((await client.post(`/v1/webhooks/${webhook}/replay`, { since })).status).toBe(202);
});

it('starts one recovery for requests with the same key', async () => {
  const headers = { 'Idempotency-Key': 'outage-1' };
  const body = anOutage();
  const first = await platform.post(RECOVER, body, { headers });
  const again = await platform.post(RECOVER, body, { headers });
  expect([first.status, again.status, again.text]).toEqual([202, 202, first.text]);
});

it('runs one at a time, for operators alone, and refuses a time that is none', async () => {
  const { client } = await aCustomer();
  const first = await recover();
  expect((await platform.get(first)).json()).toMatchObject({ state: 'running', ...NOTHING });
  const refused = await platform.post(RECOVER, anOutage());
  expect([refused.status, refused.json<{ code: string }>().code]).toEqual([
    409,
    'recovery_running',
  ]);
  expect((await client.post(RECOVER, anOutage())).status).toBe(403);
  const operator = clientOf(api.url, (await createUser(database, 'second', 'operator')).auth);
  expect((await operator.get(first)).status).toBe(200);
  expect((await operator.post(RECOVER, { ...anOutage(), dryRun: true })).status).toBe(200);
  expect((await client.get(first)).status).toBe(403);
  expect((await platform.get(`${first.slice(0, -4)}ffff`)).status).toBe(404);
  const { since, until } = anOutage();
  const faults = async (body: object) => {
    const answer = await platform.post(RECOVER, body);
    return [answer.status, answer.json<{ errors: { field: string; code: string }[] }>().errors];
  };
  expect(await faults({})).toMatchObject([
    400,
    [
      { field: 'since', code: 'required' },
      { field: 'until', code: 'required' },
    ],
  ]);
  expect(await faults({ since: until, until: since, dryRun: 1 })).toMatchObject([
    400,
    [
      { field: 'until', code: 'range' },
      { field: 'dryRun', code: 'type' },
    ],
  ]);
  // Otherwise a misspelt dry run would change subscriptions of all accounts.
  expect(await faults({ since, until, dryrun: true })).toMatchObject([
    400,
    [{ field: 'dryrun', code: 'not_allowed' }],
  ]);
});
