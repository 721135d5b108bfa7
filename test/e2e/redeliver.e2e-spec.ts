import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { partitionsOf, pastDeliveries } from '../support/past.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { anApplication, aSubscription } from '../support/rows.js';

type Replay = Schemas['Replay'];

const PATH = '/v1/deliveries/redeliver';
/** The approximate creation time of these tests' deliveries. */
const HALF_A_DAY = 0.5;
const SINCE = { since: new Date(Date.now() - 86_400_000).toISOString() };
const EXHAUSTED = { state: `'exhausted'`, reason: `'no_attempts_left'`, completed_at: 'now()' };

let database: TestDatabase;
let api: Running;
let worker: Running;
let receiver: Receiver;
let customer: Client;
let account: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await partitionsOf(database, 1);
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '',
  };
  api = await apiInProcess(environment);
  worker = await workerInProcess(environment);
});
afterAll(async () => {
  await Promise.all([api, worker].map((running) => running.stop()));
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  ({ client: customer, account } = await aCustomer());
});
afterEach(() => receiver.close());

async function aCustomer(role: 'account' | 'platform' = 'account') {
  customers += 1;
  const user = await createUser(database, `redelivering-${customers}`, role);
  return { client: clientOf(api.url, user.auth), account: user.id };
}

const subscribe = (columns: Record<string, unknown> = {}) =>
  aSubscription(database, account, { target_url: receiver.url, ...columns });

interface Given {
  count?: number;
  columns?: Record<string, string>;
  /** The status of the last attempt. */
  status?: number;
  applicationId?: string;
  daysAgo?: number;
}

/** @returns the ids of finished deliveries, by default one that is exhausted after a 200 */
async function past(webhook: string, given: Given = {}): Promise<string[]> {
  const { count = 1, columns = {}, status = 200, applicationId, daysAgo = HALF_A_DAY } = given;
  const ids = await pastDeliveries(database, webhook, {
    ...{ daysAgo, count, columns: { ...EXHAUSTED, ...columns } },
  });
  await database.query('UPDATE attempts SET status = $2 WHERE delivery_id = ANY ($1)', [
    ids,
    status,
  ]);
  await database.query(
    `UPDATE events SET application_id = $2
     WHERE id IN (SELECT event_id FROM deliveries WHERE id = ANY ($1))`,
    [ids, applicationId ?? null],
  );
  return ids;
}

/** Later than any test ends. */
const ONE_RETRY = { schedule: [3_600] };

/** @returns the path of the replay */
async function redeliver(body: object = {}): Promise<string> {
  const answer = await customer.post(PATH, { ...SINCE, ...body });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  const { href } = answer.json<{ href: string }>();
  expect(answer.headers.location).toBe(href);
  return new URL(href).pathname;
}

async function dryRun(body: object = {}): Promise<Schemas['ReplayCount']> {
  const answer = await customer.post(PATH, { ...SINCE, ...body, dryRun: true });
  expect([answer.status, answer.headers.location]).toEqual([200, undefined]);
  return answer.json();
}

const count = async (body: object = {}): Promise<number> => (await dryRun(body)).deliveries;

const shown = async (path: string): Promise<Replay> => (await customer.get(path)).json<Replay>();

const ended = (path: string, state = 'completed'): Promise<Replay> =>
  eventually(
    () => shown(path),
    (replay) => replay.state === state,
    { ms: 45_000 },
  );

const receivedIds = () => receiver.received.map(({ id }) => id).sort();

it('sends failed deliveries of all enabled subscriptions again, and of no others', async () => {
  const [first, second] = [await subscribe(), await subscribe()];
  const failed = [...(await past(first, { count: 3 })), ...(await past(second, { count: 2 }))];
  const cancelled = await past(second, {
    columns: { state: `'cancelled'`, reason: `'requested'` },
  });
  await past(first, { columns: { state: `'succeeded'`, reason: 'NULL' } });
  await pastDeliveries(database, first, { daysAgo: HALF_A_DAY, columns: EXHAUSTED, test: true });
  await past(await subscribe({ enabled: false }));
  await past(await subscribe({ deleted_at: new Date() }));
  const stranger = await aCustomer();
  await past(await aSubscription(database, stranger.account, { target_url: receiver.url }));
  const leftOut = { leftOut: 3, leftOutFor: { off: 1, deleted: 1, test: 1 } };
  expect(await dryRun()).toMatchObject({ deliveries: 6, ...leftOut });
  const path = await redeliver();
  expect(await ended(path)).toEqual({
    id: path.split('/').at(-1),
    href: `${api.url}${path}`,
    since: SINCE.since,
    until: expect.any(String) as string,
    states: ['exhausted', 'cancelled'],
    state: 'completed',
    total: 6,
    replayed: 6,
    now: expect.any(Number) as number,
    waiting: {},
    ...leftOut,
    createdAt: expect.any(String) as string,
    completedAt: expect.any(String) as string,
  });
  await receiver.until((received) => received.length === 6);
  expect(receivedIds()).toEqual([...failed, ...cancelled].sort());
  await eventually(
    () => shown(path),
    ({ now }) => now === 0,
  );
  for (const { headers } of receiver.received) expect(headers['webhook-replayed']).toBe('true');
});

it('sends what a filter selects, as many as its dry run counts, and shows the filter', async () => {
  const applicationId = await anApplication(database, account);
  const [first, second] = [await subscribe(), await subscribe({ event: 'cdrRated' })];
  const groups = {
    plain: await past(first, { count: 2, status: 404 }),
    ofApplication: await past(first, { count: 3, status: 503, applicationId }),
    rated: await past(second, { count: 4, status: 500 }),
    succeeded: await past(second, { columns: { state: `'succeeded'`, reason: 'NULL' } }),
    unanswered: await past(first, { status: 200 }),
  };
  await database.query(
    `UPDATE attempts SET status = NULL, error = 'timeout' WHERE delivery_id = ANY ($1)`,
    [groups.unanswered],
  );
  const cases: [filter: Record<string, string>, ids: string[]][] = [
    [{ event: 'cdrRated' }, groups.rated],
    [{ webhookId: first, status: '4xx' }, groups.plain],
    [{ applicationId }, groups.ofApplication],
    [{ status: '5xx' }, [...groups.ofApplication, ...groups.rated]],
    [{ status: 'timeout' }, groups.unanswered],
    [{ webhookId: first, applicationId, status: 'failed' }, groups.ofApplication],
    [
      { webhookId: first, status: 'failed' },
      [...groups.plain, ...groups.ofApplication, ...groups.unanswered],
    ],
    [{ state: 'succeeded', status: '200' }, groups.succeeded],
    [{ webhookId: second, applicationId }, []],
    [{ state: 'cancelled' }, []],
    [{ until: '2000-01-02T00:00:00.000Z', since: '2000-01-01T00:00:00.000Z' }, []],
  ];
  for (const [filter, ids] of cases) {
    const counted = await count(filter);
    expect([filter, counted]).toEqual([filter, ids.length]);
    receiver.received.length = 0;
    const replay = await ended(await redeliver(filter));
    expect(replay).toMatchObject({ total: counted, replayed: counted });
    const { state, ...others } = filter;
    const states = state === undefined ? ['exhausted', 'cancelled'] : [state];
    expect(replay).toMatchObject({ ...others, states });
    await receiver.until((received) => received.length >= counted);
    expect([filter, receivedIds()]).toEqual([filter, [...ids].sort()]);
    // Restores their states for the next filter.
    await eventually(
      () =>
        database.query(`SELECT FROM deliveries WHERE account_id = $1 AND state = 'pending'`, [
          account,
        ]),
      (pending) => pending.length === 0,
    );
    await database.query('DELETE FROM attempts WHERE take > 0');
    await database.query(
      `UPDATE deliveries SET state = CASE WHEN id = ANY ($2) THEN 'succeeded' ELSE 'exhausted' END
       WHERE account_id = $1`,
      [account, groups.succeeded],
    );
  }
});

it('finds a few among many that do not match', async () => {
  const webhook = await subscribe();
  await past(webhook, { count: 12_000, status: 404 });
  const wanted = await past(webhook, { count: 3, status: 503, daysAgo: HALF_A_DAY / 2 });
  expect(await count({ status: '503' })).toBe(3);
  expect(await ended(await redeliver({ status: '503' }))).toMatchObject({ total: 3, replayed: 3 });
  await receiver.until((received) => received.length === 3);
  expect(receivedIds()).toEqual([...wanted].sort());
});

it('continues for other subscriptions while one is paused, and can be cancelled', async () => {
  const [paused, open] = [await subscribe({ paused: true }), await subscribe()];
  await past(paused, { count: 2 });
  const sent = await past(open, { count: 3 });
  const path = await redeliver();
  const next = await redeliver({ state: 'succeeded' });
  await receiver.until((received) => received.length === 3);
  expect(receivedIds()).toEqual([...sent].sort());
  await ended(next);
  expect(await shown(path)).toMatchObject({ state: 'running', total: 5, replayed: 3 });
  for (let times = 0; times < 2; times += 1) {
    const answer = await customer.post(`${path}/cancel`);
    expect([answer.status, answer.json()]).toEqual([200, { href: `${api.url}${path}` }]);
  }
  await database.query('UPDATE webhooks SET paused = false WHERE id = $1', [paused]);
  await sleep(1_500);
  expect(receiver.received).toHaveLength(3);
  expect(await shown(path)).toMatchObject({ state: 'cancelled', replayed: 3 });
  expect((await customer.post(`${next}/cancel`)).json()['code']).toBe('replay_finished');
});

it('leaves out only the deliveries of a subscription that is disabled meanwhile', async () => {
  const [off, paused] = [await subscribe({ paused: true }), await subscribe({ paused: true })];
  await past(off, { count: 2 });
  const sent = await past(paused, { count: 3 });
  const path = await redeliver();
  const single = await redeliver({ webhookId: off, status: '200' });
  await customer.put(`/v1/webhooks/${off}`, { enabled: false });
  await customer.put(`/v1/webhooks/${off}`, { enabled: true });
  const leftOut = { leftOut: 2, leftOutFor: { off: 2 } };
  expect(await ended(single, 'cancelled')).toMatchObject(leftOut);
  await database.query('UPDATE webhooks SET paused = false WHERE account_id = $1', [account]);
  expect(await ended(path)).toMatchObject({ total: 5, replayed: 3, ...leftOut });
  await receiver.until((received) => received.length === 3);
  await sleep(1_000);
  expect(receivedIds()).toEqual([...sent].sort());
});

it('restarts a target’s deliveries as fast as it answers', async () => {
  const [slow, fast] = [await subscribe(), await subscribe()];
  await past(slow, { count: 3_000 });
  const quick = await past(fast, { count: 20 });
  const isQuick = new Set(quick);
  receiver.answering = ({ id }, response) =>
    void setTimeout(() => response.end(), isQuick.has(id) ? 0 : 500);
  const path = await redeliver();
  await receiver.until((received) => quick.every((id) => received.some((one) => one.id === id)));
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM deliveries WHERE webhook_id = $1 AND state = 'pending'`,
    [slow],
  );
  expect(row?.n).toBeLessThanOrEqual(1_500);
  expect((await shown(path)).state).toBe('running');
  await customer.post(`${path}/cancel`);
  await customer.put(`/v1/webhooks/${slow}`, { enabled: false });
});

it("acts for the caller's own account, also for the role platform", async () => {
  const webhook = await subscribe();
  await past(webhook);
  const applicationId = await anApplication(database, account);
  const path = await redeliver();
  for (const role of ['account', 'platform'] as const) {
    const { client } = await aCustomer(role);
    const dry = await client.post(PATH, { ...SINCE, dryRun: true });
    const nothing = { deliveries: 0, now: 0, waiting: {}, leftOut: 0, leftOutFor: {} };
    expect([dry.status, dry.json()]).toEqual([200, nothing]);
    expect((await client.post(PATH, SINCE)).status).toBe(202);
    const faulty = await client.post(PATH, { ...SINCE, webhookId: webhook, applicationId });
    const faults = faulty.json<{ errors: { field: string; code: string }[] }>().errors;
    expect([faulty.status, faults.map(({ field, code }) => `${field} ${code}`)]).toEqual([
      400,
      ['webhookId unknown_reference', 'applicationId unknown_reference'],
    ]);
    expect((await client.get(path)).status).toBe(404);
    expect((await client.post(`${path}/cancel`)).status).toBe(404);
  }
  await ended(path);
});

it('counts what it leaves out, and why', async () => {
  const webhook = await subscribe();
  const [first] = await past(webhook, { count: 3 });
  const nothing = { deliveries: 0, now: 0, waiting: {}, leftOut: 0, leftOutFor: {} };
  expect(await dryRun()).toEqual({ ...nothing, deliveries: 3, now: 3 });
  await database.query(
    'UPDATE events SET erased_at = now() WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)',
    [first],
  );
  const erased = { ...nothing, leftOut: 1, leftOutFor: { erased: 1 } };
  expect(await dryRun()).toEqual({ ...erased, deliveries: 2, now: 2 });
  expect(await dryRun({ webhookId: webhook })).toEqual({ ...erased, deliveries: 2, now: 2 });
  await customer.put(`/v1/webhooks/${webhook}`, { enabled: false });
  const off = { leftOut: 3, leftOutFor: { off: 2, erased: 1 } };
  expect(await dryRun()).toEqual({ ...nothing, ...off });
  expect(await ended(await redeliver())).toMatchObject({ total: 0, ...off });
  await customer.delete(`/v1/webhooks/${webhook}`);
  const gone = { leftOut: 3, leftOutFor: { deleted: 2, erased: 1 } };
  expect(await dryRun()).toEqual({ ...nothing, ...gone });
});

it('leaves out what remains of a subscription that is deleted meanwhile', async () => {
  const webhook = await subscribe({ paused: true });
  await past(webhook, { count: 2 });
  const path = await redeliver();
  await customer.delete(`/v1/webhooks/${webhook}`);
  const leftOut = { leftOut: 2, leftOutFor: { deleted: 2 } };
  expect(await ended(path)).toMatchObject({ total: 2, replayed: 0, ...leftOut });
});

it('says how many go now, how many wait for what, and sends those that it said go now', async () => {
  const healthy = await past(await subscribe(), { count: 3 });
  const paused = await past(await subscribe({ paused: true }), { count: 2 });
  const failing = {
    ...{ failures: 10, failing_since: new Date(), openings: 1 },
    open_until: new Date(Date.now() + 3_600_000),
  };
  await past(await subscribe(failing), { count: 4 });
  await past(await subscribe({ hold_until: new Date(Date.now() + 3_600_000) }));
  const ordered = await past(await subscribe({ ordered: true, retry: ONE_RETRY }), {
    count: 3,
  });
  await past(await subscribe({ enabled: false }), { count: 5 });
  const counted = {
    ...{ deliveries: 13, now: 4, waiting: { paused: 2, circuit: 4, schedule: 1, pace: 2 } },
    ...{ leftOut: 5, leftOutFor: { off: 5 } },
  };
  const dry = async (body: object = {}) =>
    (await customer.post(PATH, { ...SINCE, ...body, dryRun: true })).json();
  expect(await dry()).toEqual(counted);
  expect((await customer.post('/v1/deliveries/send', { ...SINCE, dryRun: true })).json()).toEqual(
    counted,
  );
  // The first delivery of the ordered subscription fails, so that the others wait.
  receiver.answering = ({ id }, response) => {
    response.writeHead(ordered.includes(id) ? 500 : 200).end();
  };
  const path = await redeliver();
  await receiver.until((received) => received.length === 4);
  const sent = receivedIds();
  expect(sent.filter((id) => healthy.includes(id))).toEqual([...healthy].sort());
  expect(sent.filter((id) => ordered.includes(id))).toHaveLength(1);
  expect(sent.filter((id) => paused.includes(id))).toEqual([]);
  // The progress counts the same way. The first delivery of the ordered subscription waits for its retry.
  const replay = await eventually(
    () => shown(path),
    ({ now, replayed }) => now === 0 && replayed === 6,
  );
  expect(replay.waiting).toEqual({ paused: 2, circuit: 4, schedule: 2, pace: 2 });
  await customer.post(`${path}/cancel`);
});

it('counts in its progress the deliveries that it has started, and those that wait for a retry', async () => {
  const webhook = await subscribe({ retry: ONE_RETRY });
  await past(webhook, { count: 2 });
  await past(await subscribe({ paused: true }), { count: 3 });
  receiver.answering = (_, response) => response.writeHead(500).end();
  const path = await redeliver();
  await receiver.until((received) => received.length === 2);
  const replay = await eventually(
    () => shown(path),
    ({ now }) => now === 0,
  );
  expect(replay).toMatchObject({ replayed: 2, waiting: { schedule: 2, paused: 3 } });
  await customer.post(`${path}/cancel`);
  expect((await shown(path)).waiting).toEqual({ schedule: 2 });
});

it('selects deliveries of a deleted application too', async () => {
  const applicationId = await anApplication(database, account);
  await past(await subscribe(), { applicationId });
  expect((await customer.delete(`/v1/applications/${applicationId}`)).status).toBe(200);
  expect(await count({ applicationId })).toBe(1);
});

it('refuses faulty filters, a subscription that is disabled, and other methods', async () => {
  const faulty = await customer.post(PATH, { until: 'soon', state: 'pending', status: 'x' });
  const faults = faulty.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field);
  expect([faulty.status, faults]).toEqual([400, ['since', 'until', 'state', 'status']]);
  const webhookId = await subscribe({ enabled: false });
  for (const body of [{ webhookId }, { webhookId, dryRun: true }]) {
    const off = await customer.post(PATH, { ...SINCE, ...body });
    expect([off.status, off.json()['code']]).toEqual([409, 'subscription_inactive']);
  }
  for (const method of ['get', 'put', 'delete'] as const) {
    const { status, headers } = await customer[method](PATH, {});
    expect([method, status, headers.allow]).toEqual([method, 405, 'POST']);
  }
});

it('runs ten replays of an account at once, and starts twenty in an hour', async () => {
  await past(await subscribe({ paused: true }));
  const paths: string[] = [];
  for (let n = 0; n < 10; n += 1) paths.push(await redeliver());
  const refused = await customer.post(PATH, SINCE);
  expect([refused.status, refused.json()['code']]).toEqual([409, 'replay_limit_reached']);
  for (const path of paths) await customer.post(`${path}/cancel`);
  for (let n = 10; n < 20; n += 1) await customer.post(`${await redeliver()}/cancel`);
  const limited = await customer.post(PATH, SINCE);
  expect([limited.status, limited.json()['code']]).toEqual([429, 'rate_limited']);
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3_000);
  expect(await count()).toBe(1);
  const other = await aCustomer();
  expect((await other.client.post(PATH, SINCE)).status).toBe(202);
});
