import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';
import type { ServiceProcess } from '../support/service-process.js';

type Overview = Schemas['Overview'];

let database: TestDatabase;
let api: ServiceProcess;
let workers: ServiceProcess[];
let receiver: Receiver;
let platform: Client;
let owner: { id: string; auth: string };
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  receiver = await startReceiver();
  [api, ...workers] = await Promise.all([
    startApi(environment),
    startWorker(environment),
    startWorker(environment),
  ]);
  owner = await createUser(database, 'owner');
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  client = clientOf(api.url, owner.auth);
});
afterAll(async () => {
  await Promise.all([api, ...workers].map((one) => one.stop()));
  await receiver.close();
  await database.drop();
});

const until = (isWanted: (shown: Overview) => boolean) =>
  eventually(async () => (await platform.get('/v1/overview')).json<Overview>(), isWanted, {
    ms: 20_000,
  });

it('shows which processes are alive, and forgets one that has stopped', async () => {
  const shown = await until((one) => one.workers.length === 2 && one.apis.length === 1);
  for (const { id, version, isAlive, ...load } of [...shown.workers, ...shown.apis]) {
    expect(load.cpuPercent).toBeGreaterThanOrEqual(0);
    expect(load.memoryBytes).toBeGreaterThan(10_000_000);
    expect(id).toMatch(/^[^:]+:\d+:[0-9a-f]{6}$/);
    expect(version).toMatch(/^\d+\.\d+\.\d+(-dev\+[\w.-]+)?$/);
    expect(isAlive).toBe(true);
  }
  await workers[1]!.stop();
  await until((one) => one.workers.length === 1);
});

it('shows one that was killed as not alive, and one of an earlier version without its load', async () => {
  const id = 'elsewhere:1:abcdef';
  await database.query(
    `INSERT INTO processes (id, kind, version, in_flight, seen_at)
     VALUES ($1, 'worker', '1.0.0', 3, now() - interval '1 minute')`,
    [id],
  );
  const { workers: shown } = await until((one) => one.workers.some((worker) => worker.id === id));
  const killed = shown.find((worker) => worker.id === id);
  expect(killed).toMatchObject({ isAlive: false, inFlight: 3 });
  expect(killed).not.toHaveProperty('cpuPercent');
});

it('shows the backlog, its age, and the targets that fail', async () => {
  const empty = await until((one) => one.pending === 0);
  expect(empty).toMatchObject({ expiredClaims: 0, lookedAt: 0, failing: [] });
  expect(empty).not.toHaveProperty('oldestDueS');
  receiver.answering = (_, response) => response.writeHead(500).end();
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: `${receiver.url}/failing` };
  const { href } = (await client.post('/v1/webhooks', body)).json<{ href: string }>();
  const webhookId = href.split('/').at(-1)!;
  const event = { accountId: owner.id, event: 'cdrCreated', resource: 'call', data: { id: 1 } };
  expect((await platform.post('/v1/events', event)).status).toBe(202);
  const { failing } = await until((one) => one.pending === 1 && one.failing.length === 1);
  expect(failing[0]).toMatchObject({ webhookId, accountId: owner.id, failures: 1, waiting: 1 });
  expect(failing[0]!.targetUrl).toContain('/failing');
  await Promise.all(workers.map((worker) => worker.stop()));
  await database.query(
    `UPDATE deliveries SET next_attempt_at = now() - interval '90 seconds',
       claimed_until = now() - interval '90 seconds' WHERE state = 'pending'`,
  );
  const left = await until((one) => one.expiredClaims === 1);
  expect(left.lookedAt).toBe(1);
  expect(left.oldestDueS).toBeGreaterThanOrEqual(90);
});

it('shows queues, partitions, the retention and the version of the schema', async () => {
  const shown = await until(() => true);
  expect(shown.queues).toEqual([{ waiting: 0, active: 0 }]);
  const today = new Date().toISOString().slice(0, 10);
  const partitions = shown.partitions.find(({ day }) => day === today)!;
  expect(partitions.events).toBeGreaterThan(8_192);
  const nextDay = shown.partitions.at(-1)!.day;
  expect(shown.retention).toEqual({
    days: 30,
    nextDay,
    nextAt: new Date(Date.parse(nextDay) + 32 * 86_400_000).toISOString(),
  });
  expect(shown.schemaVersion).toMatch(/^[A-Z]\w+\d{13}$/);
});

describe('the load by account', () => {
  const PATH = '/v1/overview/accounts';
  const list = async (query = '') => {
    const answer = await platform.get(`${PATH}${query}`);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json<Schemas['AccountLoad'][]>();
  };
  const HOUR_MS = 3_600_000;
  const hour = (ago: number) => new Date(Math.floor(Date.now() / HOUR_MS - ago) * HOUR_MS);

  beforeAll(async () => {
    // A day before, so that nothing else counts.
    await database.query(
      `INSERT INTO account_loads (at, account_id, reported, delivered, failed, busy_ms) VALUES
         ($1, 901, 5, 9, 0, 100), ($1, 902, 7, 1, 2, 600), ($2, 902, 1, 0, 0, 100), ($2, 903, 0, 1, 1, 200)`,
      [hour(26), hour(25)],
    );
  });
  const range = `?since=${hour(26).toISOString()}&until=${hour(24).toISOString()}`;
  const sorted = async (query: string) => {
    const rows = await list(`${range}${query}`);
    return rows.map(({ accountId }) => accountId).filter((id) => id > 900);
  };

  it('counts what was reported, had delivered and failed, and the share of the time', async () => {
    const rows = await list(range);
    expect(rows.filter(({ accountId }) => accountId > 900)).toEqual([
      {
        ...{ accountId: 902, user: `${api.url}/v1/users/902` },
        ...{ reported: 8, delivered: 1, failed: 2, waiting: 0, share: 0.7 },
      },
      expect.objectContaining({ accountId: 903, reported: 0, delivered: 1, failed: 1, share: 0.2 }),
      expect.objectContaining({ accountId: 901, reported: 5, delivered: 9, failed: 0, share: 0.1 }),
    ]);
    const first = await list(`?since=${hour(26).toISOString()}&until=${hour(25).toISOString()}`);
    expect(first.find(({ accountId }) => accountId === 902)).toMatchObject({ reported: 7 });
  });

  it('sorts by any figure, in both orders', async () => {
    expect(await sorted('&sort=delivered')).toEqual([901, 902, 903]);
    expect(await sorted('&sort=reported&order=asc')).toEqual([903, 901, 902]);
    expect(await sorted('&sort=failed')).toEqual([902, 903, 901]);
  });

  it('comes in pages', async () => {
    const first = await platform.get(`${PATH}${range}&sort=delivered&limit=2`);
    expect(first.json<unknown[]>()).toHaveLength(2);
    const link = /<([^>]*)>; rel="next"/.exec(String(first.headers.link))![1]!;
    const second = await platform.get(link.slice(api.url.length));
    const rows = second.json<Schemas['AccountLoad'][]>();
    expect(rows[0]).toMatchObject({ accountId: 903 });
    expect(await list(`${range}&after=999999`)).toEqual([]);
  });

  it('counts waiting deliveries, even for an account with no other activity', async () => {
    const account = await anAccount(database);
    const webhook = await aSubscription(database, account);
    for (let count = 0; count < 3; count += 1) await aPendingDelivery(database, webhook);
    const rows = await eventually(
      () => list('?sort=waiting'),
      (all) => all.some(({ accountId }) => String(accountId) === account),
      { ms: 20_000 },
    );
    const waiting = rows.find(({ accountId }) => String(accountId) === account);
    expect(waiting).toMatchObject({ reported: 0, delivered: 0, failed: 0, waiting: 3, share: 0 });
  });

  it('counts the events that an API has accepted', async () => {
    const event = { accountId: owner.id, event: 'cdrRated', resource: 'call', data: {} };
    expect((await platform.post('/v1/events', event)).status).toBe(202);
    await eventually(
      () => list('?sort=reported'),
      (all) =>
        all.some(({ accountId, reported }) => String(accountId) === owner.id && reported > 0),
      { ms: 30_000 },
    );
  });

  it.each([
    [`since=${hour(9 * 24).toISOString()}`, 'since'],
    [`since=${hour(1).toISOString()}&until=${hour(2).toISOString()}`, 'until'],
    ['sort=name', 'sort'],
    ['order=up', 'order'],
    ['after=x', 'after'],
  ])('refuses %s', async (query, field) => {
    const answer = await platform.get(`${PATH}?${query}`);
    const { errors } = answer.json<{ errors: { field: string }[] }>();
    expect([answer.status, errors.map((one) => one.field)]).toEqual([400, [field]]);
  });
});

it.each(['/v1/overview', '/v1/overview/accounts'])('%s is for the platform only', async (path) => {
  expect((await client.get(path)).status).toBe(403);
});
