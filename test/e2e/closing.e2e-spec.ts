import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { EventStream } from '../support/event-stream.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { partitionsOf, pastDeliveries } from '../support/past.js';
import { startWorker } from '../support/processes.js';
import { expectProblem } from '../support/problem.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { anApplication, aPendingDelivery, aSubscription } from '../support/rows.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
/** All tables with rows of an account, and the column of its id. */
const OF_ACCOUNT = {
  ...{ applications: 'user_id', credentials: 'user_id', webhooks: 'account_id' },
  ...{ events: 'account_id', event_keys: 'account_id', deliveries: 'account_id' },
  ...{ attempt_counts: 'account_id', replays: 'account_id', replay_parts: 'account_id' },
  ...{ erasures: 'account_id', idempotency_keys: 'account_id', closings: 'account_id' },
};

interface ShownUser {
  id: number;
  username: string;
  status: string;
  credentials: object[];
  remains?: { events: number; deliveries: number };
}

interface Customer {
  id: string;
  username: string;
  auth: string;
  client: Client;
}

let database: TestDatabase;
let environment: Record<string, string>;
let api: Running;
let worker: { stop: () => Promise<unknown> } | undefined;
let receiver: Receiver;
let platform: Client;
let operatorId: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  for (const daysAgo of [1, 2, 3]) await partitionsOf(database, daysAgo);
  environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
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
  receiver = await startReceiver();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await receiver.close();
});

async function aCustomer(): Promise<Customer> {
  const username = `customer-${(customers += 1)}`;
  const { id, auth } = await createUser(database, username);
  return { id, username, auth, client: clientOf(api.url, auth) };
}

const close = (user: string) => platform.delete(`/v1/users/${user}`);
const shown = async (user: string) => (await platform.get(`/v1/users/${user}`)).json<ShownUser>();
const countOf = async (table: string, where: string) =>
  (
    await database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE ${where}`)
  )[0]!.n;

/** How many rows each table has of an account. */
async function rowsOf(id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, column] of Object.entries(OF_ACCOUNT)) {
    counts[table] = await countOf(table, `${column} = ${id}`);
  }
  return counts;
}

/** As if the account had been closed long ago: nothing that began before is still being written. */
const longAgo = (id: string) =>
  database.query(
    `UPDATE closings SET requested_at = now() - interval '1 hour' WHERE account_id = $1`,
    [id],
  );

const closed = (id: string) =>
  eventually(
    () => shown(id),
    ({ status }) => status === 'closed',
    { ms: 60_000 },
  );

const aReport = (to: object) =>
  platform.post('/v1/events', { event: 'cdrCreated', resource: 'call', data: {}, ...to });

async function expectNoReports(fields: Record<string, string>): Promise<void> {
  for (const [field, value] of Object.entries(fields)) {
    expectProblem(await aReport({ [field]: value }), {
      status: 400,
      code: 'validation_failed',
      faults: [`${field} unknown_reference`],
    });
  }
}

describe('an account that is closed', () => {
  it('answers 202, and logins and sessions end within about a second', async () => {
    const { id, username, auth, client } = await aCustomer();
    const begun = await clientOf(api.url).post('/v1/session', undefined, {
      auth,
      headers: SAME_ORIGIN,
    });
    const cookie = begun.headers['set-cookie']![0]!.split(';', 1)[0]!;
    const ways: (() => Promise<Answer>)[] = [
      () => client.get('/v1/webhooks'),
      () => clientOf(api.url).get('/v1/webhooks', { headers: { ...SAME_ORIGIN, cookie } }),
    ];
    for (const way of ways) expect((await way()).status).toBe(200);
    const answer = await close(username);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ href: `${api.url}/v1/users/${id}`, id: Number(id) });
    for (const way of ways) {
      await eventually(way, ({ status }) => status === 401, { ms: 1_500 });
    }
  });

  it('takes no more reports, neither by its id nor by an application', async () => {
    const { id } = await aCustomer();
    const applicationId = await anApplication(database, id);
    expect((await aReport({ accountId: id })).status).toBe(202);
    expect((await aReport({ applicationId })).status).toBe(202);
    await close(id);
    await expectNoReports({ accountId: id, applicationId });
    expect(await countOf('events', `account_id = ${id}`)).toBe(2);
  });

  it('ends its streams and the requests that wait for its feed', async () => {
    const { id, auth, client } = await aCustomer();
    const stream = await EventStream.open(`${api.url}/v1/stream`, auth);
    const following = client.get('/v1/feed?wait=20');
    await close(id);
    const start = performance.now();
    await eventually(
      () => Promise.resolve(stream.ended),
      (ended) => ended,
    );
    expect((await following).status).toBe(401);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('has no applications and subscriptions any more, and its deliveries are cancelled', async () => {
    const { id } = await aCustomer();
    const application = await anApplication(database, id);
    const webhook = await aSubscription(database, id, { target_url: receiver.url });
    await aSubscription(database, id, { target_url: receiver.url, application_id: application });
    const delivery = await aPendingDelivery(database, webhook);
    await close(id);
    for (const list of ['applications', 'webhooks']) {
      expect((await platform.get(`/v1/${list}?accountId=${id}`)).json()).toEqual([]);
    }
    expect((await platform.get(`/v1/deliveries/${delivery}`)).json()).toMatchObject({
      state: 'cancelled',
      completedAt: expect.any(String) as string,
    });
    worker = await workerInProcess(environment);
    await eventually(
      () => countOf('deliveries', `account_id = ${id}`),
      (count) => count === 0,
    );
    expect(receiver.received).toEqual([]);
  });

  it('shows what remains, and keeps its name, its id and its status, until its data is removed', async () => {
    const { id, username } = await aCustomer();
    const webhook = await aSubscription(database, id);
    await pastDeliveries(database, webhook, { daysAgo: 2, count: 3 });
    await aReport({ accountId: id });
    expect(await shown(id)).not.toHaveProperty('remains');
    await close(id);
    const closing = await shown(username);
    expect(closing).toMatchObject({ id: Number(id), status: 'closing', credentials: [] });
    expect(closing.remains).toEqual({ events: 4, deliveries: 4 });
    const users = (await platform.get('/v1/users')).json<ShownUser[]>();
    expect(users.find((user) => user.id === Number(id))).toMatchObject({ status: 'closing' });
    const again = await platform.post('/v1/users', { username });
    expect(again.json()).toMatchObject({ errors: [{ field: 'username', code: 'conflict' }] });
    expectProblem(await platform.put(`/v1/users/${id}`, { status: 'active' }), {
      status: 409,
      code: 'user_closed',
    });
    expectProblem(await platform.post(`/v1/users/${id}/credentials`, {}), {
      status: 409,
      code: 'user_closed',
    });
  });

  it('changes nothing when it is closed again', async () => {
    const { id } = await aCustomer();
    await close(id);
    const before = await shown(id);
    expect((await close(id)).status).toBe(202);
    expect(await shown(id)).toEqual(before);
    const entries = (await platform.get(`/v1/audit?accountId=${id}`)).json<object[]>();
    expect(entries).toEqual([
      expect.objectContaining({ action: 'user.close', resourceId: id, userId: Number(operatorId) }),
    ]);
  });

  it('is closed by operators alone, and is neither their own nor, for the role operator, one of the platform', async () => {
    const { id, client } = await aCustomer();
    expectProblem(await close(operatorId), { status: 409, code: 'own_access' });
    expectProblem(await close('operator'), { status: 409, code: 'own_access' });
    const operator = clientOf(api.url, (await createUser(database, 'second', 'operator')).auth);
    expectProblem(await operator.delete('/v1/users/operator'), { status: 403, code: 'forbidden' });
    expectProblem(await client.delete(`/v1/users/${id}`), { status: 403, code: 'forbidden' });
    expectProblem(await close('nobody'), { status: 404, code: 'not_found' });
    expect((await shown(id)).status).toBe('active');
    expect((await operator.delete(`/v1/users/${id}`)).status).toBe(202);
    expect((await shown(id)).status).toBe('closing');
  });
});

describe('the worker', () => {
  /** A customer with rows in every table. */
  async function aFullCustomer(): Promise<Customer> {
    const customer = await aCustomer();
    const { id, client } = customer;
    const application = await anApplication(database, id);
    const webhook = await aSubscription(database, id, { target_url: receiver.url });
    await aSubscription(database, id, { application_id: application });
    for (const daysAgo of [0.01, 2])
      await pastDeliveries(database, webhook, { daysAgo, count: 700 });
    for (const name of ['losses', 'successes']) {
      const counts = name === 'losses' ? ', count, last_at' : '';
      await database.query(
        `INSERT INTO webhook_${name} (webhook_id, at${counts}) VALUES ($1, now()${counts && ', 1, now()'})`,
        [webhook],
      );
    }
    await database.query(
      `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       VALUES ($1, $2, now(), '2xx', 0, 1)`,
      [id, webhook],
    );
    await database.query(
      `INSERT INTO erasures (id, account_id, until, after, completed_at)
       VALUES (new_uuid(now(), 1), $1, now(), least_uuid(now()), now())`,
      [id],
    );
    const replay = await client.post(
      `/v1/webhooks/${webhook}/replay`,
      { since: new Date(Date.now() - 3_600_000).toISOString() },
      { headers: { 'idempotency-key': 'once' } },
    );
    expect(replay.status).toBe(202);
    expect(Object.entries(await rowsOf(id)).filter(([, count]) => count === 0)).toEqual([
      ['closings', 0],
    ]);
    return customer;
  }

  it('removes everything of the account and nothing of others; then its name is free, but not its id', async () => {
    const [leaving, staying] = [await aFullCustomer(), await aFullCustomer()];
    const others = await rowsOf(staying.id);
    await close(leaving.id);
    await longAgo(leaving.id);
    worker = await workerInProcess(environment);
    const user = await closed(leaving.id);
    expect(user).toMatchObject({ username: `closed:${leaving.id}`, status: 'closed' });
    expect(user).not.toHaveProperty('remains');
    expect(Object.values(await rowsOf(leaving.id)).every((count) => count === 0)).toBe(true);
    // Its replay goes on.
    expect(await rowsOf(staying.id)).toEqual({ ...others, replay_parts: 0 });
    const tried = (condition: string) =>
      countOf('attempts', `delivery_id ${condition} (SELECT id FROM deliveries)`);
    expect([await tried('IN'), await tried('NOT IN')]).toEqual([1_400, 0]);
    for (const table of ['webhook_losses', 'webhook_successes']) {
      expect(await countOf(table, 'webhook_id NOT IN (SELECT id FROM webhooks)')).toBe(0);
    }
    await expectNoReports({ accountId: leaving.id });
    const made = await platform.post('/v1/users', { username: leaving.username });
    expect(made.json<{ id: number }>().id).toBeGreaterThan(Number(staying.id));
    const users = (await platform.get('/v1/users')).json<ShownUser[]>();
    expect(users.find(({ id }) => id === Number(leaving.id))).toMatchObject({ status: 'closed' });
    expect((await close(leaving.id)).status).toBe(202);
    expect((await shown(leaving.id)).status).toBe('closed');
    expect((await platform.get('/v1/overview/accounts')).status).toBe(200);
    expect((await platform.get('/v1/overview')).status).toBe(200);
    const entries = (await platform.get(`/v1/audit?accountId=${leaving.id}`)).json<object[]>();
    expect(entries[0]).toMatchObject({ action: 'user.close' });
  });

  it('leaves an attempt in flight alone, and what is written until half a minute after the request', async () => {
    const { id } = await aCustomer();
    const webhook = await aSubscription(database, id);
    const delivery = await aPendingDelivery(database, webhook);
    await database.query(
      `UPDATE deliveries SET claimed_until = now() + interval '1 hour' WHERE id = $1`,
      [delivery],
    );
    await close(id);
    worker = await workerInProcess(environment);
    await eventually(
      () => countOf('events', `account_id = ${id}`),
      (count) => count === 0,
    );
    expect((await shown(id)).remains).toEqual({ events: 0, deliveries: 1 });
    await database.query('UPDATE deliveries SET claimed_until = NULL WHERE id = $1', [delivery]);
    await eventually(
      () => countOf('deliveries', `account_id = ${id}`),
      (count) => count === 0,
    );
    // As an event that was being accepted meanwhile.
    await aPendingDelivery(database, webhook);
    expect((await shown(id)).status).toBe('closing');
    await longAgo(id);
    await closed(id);
    expect(await rowsOf(id)).toMatchObject({ events: 0, deliveries: 0, webhooks: 0 });
  });

  it('goes on where one that was killed had stopped', async () => {
    const { id } = await aCustomer();
    const webhook = await aSubscription(database, id);
    for (const daysAgo of [1, 2, 3])
      await pastDeliveries(database, webhook, { daysAgo, count: 10_000 });
    await close(id);
    await longAgo(id);
    const killed = await startWorker(environment);
    await eventually(
      () => countOf('deliveries', `account_id = ${id}`),
      (count) => count < 30_000,
      { everyMs: 5, ms: 60_000 },
    );
    await killed.kill();
    const { status, remains } = await shown(id);
    expect(status).toBe('closing');
    expect(remains!.events).toBeGreaterThan(0);
    worker = await startWorker(environment);
    await closed(id);
    expect(Object.values(await rowsOf(id)).every((count) => count === 0)).toBe(true);
    expect(await countOf('attempts', 'delivery_id NOT IN (SELECT id FROM deliveries)')).toBe(0);
  });
});

describe('users close', () => {
  const cli = (...args: string[]) =>
    runCli(['users', 'close', ...args], { env: { DATABASE_URL: database.url } });

  it('closes an account with --yes, which is required without a terminal', async () => {
    const { id, username } = await aCustomer();
    const webhook = await aSubscription(database, id);
    const refused = await cli(username);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--yes is required'),
    ]);
    expect((await shown(id)).status).toBe('active');
    const { code, stdout } = await cli(username, '--yes');
    expect([code, stdout]).toEqual([
      0,
      `${username} (id ${id}) is being closed; workers remove its data (switchhook users list shows its status)\n`,
    ]);
    expect((await shown(id)).status).toBe('closing');
    expect(await countOf('webhooks', `id = ${webhook} AND deleted_at IS NULL`)).toBe(0);
    const entries = (await platform.get(`/v1/audit?accountId=${id}`)).json<object[]>();
    expect(entries).toMatchObject([{ action: 'user.close', actor: 'cli' }]);
  });
});
