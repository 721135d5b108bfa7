import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, Log, Metrics, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { NOTICE_KINDS } from '../../event-kinds/domain/event-kinds.js';
import { sampleCall, sampleData } from '../../event-kinds/domain/event-samples.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import { PostgresCircuitBreaker } from './postgres-circuit-breaker.js';
import { HEALTH, type HealthColumn, knownHealth } from './circuit-breaker.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { asRole } from '../../../../../test/support/environment.js';
import { aSubscription, anAccount, anApplication } from '../../../../../test/support/rows.js';

const SUCCEEDED: Verdict = { kind: 'succeeded' };
const FAILED: Verdict = { kind: 'failed' };
const GONE: Verdict = { kind: 'gone' };
const FIVE_DAYS_MS = 5 * 86_400_000;

let database: TestDatabase;
let source: DataSource;
let worker: PostgresCircuitBreaker;
let activity: FakeActivity;
let statements: number;
let account: string;
let webhook: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = asRole(database.url, 'worker');
  source = await new DataSource({ type: 'postgres', url }).initialize();
  const config = readConfig({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
  const log = new Log(config, 'test');
  const shared = new Database(source, new Metrics(), log, config);
  const { run } = shared;
  vi.spyOn(shared, 'run').mockImplementation((statement, ...given) => {
    statements += 1;
    return run(statement, ...given);
  });
  activity = new FakeActivity();
  const metrics = { healthChanged: () => undefined } as unknown as DeliveryMetrics;
  worker = new PostgresCircuitBreaker(shared, metrics, activity, log);
});
afterAll(async () => {
  await worker.onApplicationShutdown();
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, events, replays, replay_parts');
  account = await anAccount(database);
  webhook = await aSubscription(database, account, {
    name: 'Billing',
    target_url: 'https://***@hooks.example/a@b?c=@',
  });
  activity.reported.length = 0;
});

/** A subscription to notices of this kind. */
const listener = (event: string, columns = {}) =>
  aSubscription(database, account, { event, ...columns });

async function report(verdict: Verdict, id = webhook): Promise<void> {
  const [row] = await database.query<{ version: number; health: HealthColumn }>(
    `SELECT target_version AS version, ${HEALTH} AS health FROM webhooks w WHERE id = $1`,
    [id],
  );
  const known = knownHealth(row!.health, performance.now());
  statements = 0;
  await worker.report({
    ...{ webhookId: id, accountId: account, targetVersion: row!.version, known, verdict },
    outcome: '5xx',
  });
}

const set = (what: string, id = webhook) =>
  database.query(`UPDATE webhooks SET ${what} WHERE id = $1`, [id]);

/** Opens the circuit by one more failure. */
async function open(id = webhook): Promise<void> {
  await set(`failures = 10, failing_since = now() - interval '1 minute'`, id);
  await report(FAILED, id);
}

interface Told {
  event: string;
  about: string;
  to: string;
}

/** The notices that were sent, in order, with their subscriptions. */
const told = () =>
  database.query<Told>(
    `SELECT e.event, data::json->>'webhookId' AS about, d.webhook_id AS "to"
     FROM deliveries d JOIN events e ON e.id = d.event_id ORDER BY d.id`,
  );

async function data(): Promise<Record<string, unknown>> {
  const [event] = await database.query<{ data: string }>(
    'SELECT data FROM events ORDER BY id DESC LIMIT 1',
  );
  return JSON.parse(event!.data) as Record<string, unknown>;
}

it('tells of an opened circuit once, and of the closed one, in the statement of the change', async () => {
  const [failing, , recovered] = [
    await listener('webhookFailing'),
    await listener('webhookDisabled'),
    await listener('webhookRecovered'),
  ];
  await open();
  expect(statements).toBe(1);
  const first = { event: 'webhookFailing', about: webhook, to: failing };
  expect(await told()).toEqual([first]);
  for (const verdict of [FAILED, FAILED]) {
    await set('open_until = now()');
    await report(verdict);
  }
  expect(await told()).toEqual([first]);
  await report(SUCCEEDED);
  expect(statements).toBe(1);
  expect(await told()).toEqual([first, { ...first, event: 'webhookRecovered', to: recovered }]);
});

it('says which subscription fails, where, since when, and when it will be disabled', async () => {
  await listener('webhookFailing');
  await open();
  const notice = await data();
  expect(notice).toEqual({
    webhookId: webhook,
    accountId: account,
    name: 'Billing',
    event: 'cdrCreated',
    targetUrl: 'https://hooks.example/a@b?c=@',
    failingSince: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    disablesAt: expect.any(String) as string,
  });
  const since = Date.parse(notice['failingSince'] as string);
  expect(Math.abs(Date.now() - 60_000 - since)).toBeLessThan(5_000);
  expect(Date.parse(notice['disablesAt'] as string)).toBe(since + FIVE_DAYS_MS);
  await set(`failing_since = now() - interval '6 days', openings = 0, open_until = NULL`);
  await report(FAILED);
  const [{ until } = { until: new Date(0) }] = await database.query<{ until: Date }>(
    'SELECT open_until AS until FROM webhooks WHERE id = $1',
    [webhook],
  );
  expect(await data()).toMatchObject({ disablesAt: until.toISOString() });
});

it.each(NOTICE_KINDS)('has the members of the sample of %s', async (kind) => {
  await listener(kind);
  await open();
  await set('open_until = now()');
  await report(kind === 'webhookDisabled' ? GONE : SUCCEEDED);
  const subject = { ...sampleCall(), accountId: account, resource: 'all' as const };
  expect(Object.keys(await data())).toEqual(Object.keys(sampleData(kind, subject, new Date())));
});

it('says since when a recovered subscription had failed', async () => {
  await listener('webhookRecovered');
  await open();
  await report(SUCCEEDED);
  const { failingSince, ...others } = await data();
  expect(Math.abs(Date.now() - 60_000 - Date.parse(failingSince as string))).toBeLessThan(5_000);
  expect(Object.keys(others)).toEqual(['webhookId', 'accountId', 'name', 'event', 'targetUrl']);
});

it('says why a subscription was disabled, and cancels none of the notices of that', async () => {
  const to = await listener('webhookDisabled');
  await report(GONE);
  expect(await data()).toEqual({
    ...{ webhookId: webhook, accountId: account, name: 'Billing', event: 'cdrCreated' },
    reason: 'gone',
    targetUrl: 'https://hooks.example/a@b?c=@',
  });
  const other = await aSubscription(database, account);
  await open(other);
  await set(`failing_since = now() - interval '5 days', open_until = now()`, other);
  await report(FAILED, other);
  expect(await data()).toMatchObject({ webhookId: other, reason: 'failing' });
  const event = 'webhookDisabled';
  expect(await told()).toEqual([
    { event, about: webhook, to },
    { event, about: other, to },
  ]);
  expect(await database.query('SELECT DISTINCT generation, state FROM deliveries')).toEqual([
    { generation: 1, state: 'pending' },
  ]);
});

it('stores an event about the account or the application, and reports it to the stream', async () => {
  const application = await anApplication(database, account);
  await set(`application_id = ${application}`);
  await listener('webhookFailing');
  await open();
  const [event] = await database.query<{ id: string }>(
    `SELECT id, account_id, application_id, resource, test, unmatched, producer_id,
       created_at = occurred_at AS "isNow" FROM events`,
  );
  expect(event).toMatchObject({
    ...{ account_id: account, application_id: application, resource: 'all', isNow: true },
    ...{ test: false, unmatched: false, producer_id: null },
  });
  expect(activity.reported).toContainEqual({
    accountId: account,
    change: { kind: 'event', id: event!.id },
  });
});

it("tells the account's subscriptions and those of the same application, and no other", async () => {
  const [own, other] = [
    await anApplication(database, account),
    await anApplication(database, account),
  ];
  const ofAccount = await listener('webhookFailing');
  const ofApplication = await listener('webhookFailing', { application_id: own });
  await listener('webhookFailing', { application_id: other });
  await listener('webhookFailing', { enabled: false });
  await listener('webhookFailing', { deleted_at: new Date() });
  await aSubscription(database, await anAccount(database), { event: 'webhookFailing' });
  await open();
  expect((await told()).map(({ to }) => to)).toEqual([ofAccount]);
  await database.query('TRUNCATE events, deliveries');
  const ofOwn = await aSubscription(database, account, { application_id: own });
  await open(ofOwn);
  const to = (await told()).map((each) => each.to).sort((a, b) => Number(a) - Number(b));
  expect(to).toEqual([ofAccount, ofApplication]);
});

it('leaves a subscription with a filter to a replay of the notice, in the same statement', async () => {
  const direct = await listener('webhookFailing');
  const filter = { filter: '{"name":"Billing"}', filter_id: 'x' };
  const filtered = await listener('webhookFailing', { ...filter, generation: 7 });
  const self = await listener('webhookFailing', filter);
  await open();
  expect(statements).toBe(1);
  expect((await told()).map(({ to }) => to)).toEqual([direct]);
  const replays = () =>
    database.query(
      `SELECT r.account_id, r.webhook_id, r.event, r.missed, r.state, p.webhook_id AS part, p.generation,
         e.id > p.after AND e.id < least_uuid(r.until) AS has_notice, e.unmatched
       FROM events e, replays r JOIN replay_parts p ON p.replay_id = r.id
       WHERE e.created_at >= r.since ORDER BY e.id, r.webhook_id`,
    );
  const replay = { account_id: account, event: 'webhookFailing', missed: true, state: 'running' };
  const ofOne = (id: string, generation: number) => ({
    ...{ ...replay, webhook_id: id, part: id, generation, has_notice: true, unmatched: false },
  });
  expect(await replays()).toEqual([ofOne(filtered, 7), ofOne(self, 1)]);
  await database.query('TRUNCATE events, replays, replay_parts');
  await set('enabled = false', direct);
  await open(self);
  expect(await replays()).toEqual([{ ...ofOne(filtered, 7), unmatched: true }]);
});

it('tells no subscription of itself, and stores nothing if no other listens', async () => {
  for (const kind of NOTICE_KINDS) {
    const id = await listener(kind);
    await open(id);
    await report(SUCCEEDED, id);
    await report(GONE, id);
    expect(await told()).toEqual([]);
    await database.query('DELETE FROM webhooks WHERE id = $1', [id]);
  }
  await open();
  expect(await database.query('SELECT FROM events')).toEqual([]);
  expect(activity.reported.filter(({ change }) => change.kind === 'event')).toEqual([]);
});

it('two subscriptions to notices that fail tell each other once', async () => {
  const [one, other] = [await listener('webhookFailing'), await listener('webhookFailing')];
  for (const id of [one, other]) {
    await set(`failures = 10, failing_since = now() - interval '1 minute'`, id);
  }
  await Promise.all([report(FAILED, one), report(FAILED, other)]);
  for (const id of [one, other, one]) {
    await set('open_until = now()', id);
    await report(FAILED, id);
  }
  const event = 'webhookFailing';
  const pairs = (await told()).sort((a, b) => Number(a.about) - Number(b.about));
  expect(pairs).toEqual([
    { event, about: one, to: other },
    { event, about: other, to: one },
  ]);
});

it('waits for no lock of a subscription that is told', async () => {
  const to = await listener('webhookFailing');
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('UPDATE webhooks SET version = version + 1 WHERE id = $1', [to]);
  await open();
  expect(await told()).toHaveLength(1);
  await holder.end();
});

it('tells nothing if the change is not committed, and once after it is', async () => {
  await listener('webhookFailing');
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  await set(`failures = 10, failing_since = now() - interval '1 minute'`);
  await holder.query('BEGIN');
  await holder.query('UPDATE webhooks SET backlog = true WHERE id = $1', [webhook]);
  await report(FAILED);
  expect(await told()).toEqual([]);
  await holder.query('COMMIT');
  await holder.end();
  await eventually(told, (all) => all.length > 0);
  await report(FAILED);
  expect(await told()).toHaveLength(1);
});

describe.each(['platform', 'operator'])(
  'subscriptions of the role %s to notices of all accounts',
  (role) => {
    const ALL = { event: 'webhookFailing', accounts: 'all' };
    let operator: string;

    beforeEach(async () => {
      operator = await anOperator();
    });

    async function anOperator(): Promise<string> {
      const id = await anAccount(database);
      await database.query('UPDATE users SET role = $2 WHERE id = $1', [id, role]);
      return id;
    }

    /** The events, with the subscriptions that they are sent to. */
    const events = () =>
      database.query<{ id: string; account: string }>(
        `SELECT e.id, e.account_id AS account, e.application_id AS application, e.unmatched,
         array_agg(d.webhook_id ORDER BY d.webhook_id) AS "to", bool_and(d.account_id = e.account_id) AS "isOwn"
       FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
       GROUP BY e.id, e.account_id, e.application_id, e.unmatched ORDER BY e.account_id`,
      );

    it('get an event in their own account, in addition to the customer’s', async () => {
      const application = await anApplication(database, account);
      await set(`application_id = ${application}`);
      const own = await listener('webhookFailing');
      const [first, second] = [
        await aSubscription(database, operator, ALL),
        await aSubscription(database, operator, ALL),
      ];
      const other = await anOperator();
      const ofOther = await aSubscription(database, other, ALL);
      await open();
      expect(statements).toBe(1);
      const told = await events();
      const toldEach = { unmatched: false, isOwn: true };
      expect(told).toMatchObject([
        { ...toldEach, account, application, to: [own] },
        { ...toldEach, account: operator, application: null, to: [first, second] },
        { ...toldEach, account: other, application: null, to: [ofOther] },
      ]);
      expect(activity.reported.filter(({ change }) => change.kind === 'event')).toEqual(
        expect.arrayContaining(
          told.map(({ id, account: accountId }) => ({ accountId, change: { kind: 'event', id } })),
        ),
      );
      expect(await data()).toMatchObject({ webhookId: webhook, accountId: account });
    });

    it('are told if no subscription of the account listens', async () => {
      const to = await aSubscription(database, operator, ALL);
      await open();
      expect(await events()).toMatchObject([{ account: operator, to: [to] }]);
    });

    it('are told of those of their own account by its event, and never of themselves', async () => {
      const [one, other] = [
        await aSubscription(database, operator, ALL),
        await aSubscription(database, operator, ALL),
      ];
      const plain = await aSubscription(database, operator, { event: 'webhookFailing' });
      await open(one);
      expect(await events()).toMatchObject([{ account: operator, to: [other, plain] }]);
    });

    it('are the only ones of their account that are told of others', async () => {
      await aSubscription(database, operator, { event: 'webhookFailing' });
      await aSubscription(database, operator, { event: 'webhookDisabled', accounts: 'all' });
      await aSubscription(database, operator, { ...ALL, enabled: false });
      await aSubscription(database, operator, { ...ALL, deleted_at: new Date() });
      await open();
      expect(await events()).toEqual([]);
    });

    it.each(["status = 'locked'", "role = 'account'"])(
      'are told nothing of others while the user has %s',
      async (change) => {
        await aSubscription(database, operator, ALL);
        await database.query(`UPDATE users SET ${change} WHERE id = $1`, [operator]);
        await open();
        expect(await events()).toEqual([]);
      },
    );

    it('get a replay of the notice if they have a filter', async () => {
      const filtered = { ...ALL, filter: '{"name":"Billing"}', filter_id: 'x' };
      const to = await aSubscription(database, operator, filtered);
      await open();
      expect(await events()).toMatchObject([{ account: operator, unmatched: true, to: [null] }]);
      expect(
        await database.query(
          `SELECT r.account_id AS account, p.account_id AS "ofPart", p.webhook_id AS "to"
         FROM replays r JOIN replay_parts p ON p.replay_id = r.id`,
        ),
      ).toEqual([{ account: operator, ofPart: operator, to }]);
    });

    it('that fail tell those of other operators once', async () => {
      const other = await anOperator();
      const [one, two] = [
        await aSubscription(database, operator, ALL),
        await aSubscription(database, other, ALL),
      ];
      for (const id of [one, two, one, two]) {
        await set(
          `failures = 10, failing_since = now() - interval '1 minute', open_until = NULL`,
          id,
        );
        await report(FAILED, id);
        await set('open_until = now()', id);
        await report(FAILED, id);
      }
      expect(await told()).toHaveLength(2);
    });
  },
);
