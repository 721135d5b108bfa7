import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, Log, Metrics, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import type { KnownHealth } from '../domain/pending-deliveries.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import { PostgresCircuitBreaker } from './postgres-circuit-breaker.js';
import { HEALTH, type HealthColumn, knownHealth } from './circuit-breaker.statements.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { asRole } from '../../../../../test/support/environment.js';
import { aSubscription, anAccount } from '../../../../../test/support/rows.js';

const SUCCEEDED: Verdict = { kind: 'succeeded' };
const FAILED: Verdict = { kind: 'failed' };
const GONE: Verdict = { kind: 'gone' };
const failures = (count: number) => Array.from({ length: count }, () => FAILED);

let database: TestDatabase;
let source: DataSource;
let worker: PostgresCircuitBreaker;
let other: PostgresCircuitBreaker;
let statements: number;
let changes: string[];
let activity: FakeActivity;
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
  const metrics = {
    healthChanged: (change: string, outcome: string) => {
      changes.push(change);
      expect(outcome).toBe('timeout');
    },
  } as unknown as DeliveryMetrics;
  activity = new FakeActivity();
  worker = new PostgresCircuitBreaker(shared, metrics, activity, log);
  other = new PostgresCircuitBreaker(shared, metrics, activity, log);
});
afterAll(async () => {
  await worker.onApplicationShutdown();
  await other.onApplicationShutdown();
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, events, attempts');
  webhook = await aSubscription(database, await anAccount(database));
  [statements, changes] = [0, []];
});

/** The target of a subscription, as a claim of a delivery returns it. */
async function claimed(id = webhook) {
  const [row] = await database.query<{ version: number; health: HealthColumn }>(
    `SELECT target_version AS version, ${HEALTH} AS health FROM webhooks w WHERE id = $1`,
    [id],
  );
  const known: KnownHealth = knownHealth(row!.health, performance.now());
  return { webhookId: id, accountId: '1', targetVersion: row!.version, known, outcome: 'timeout' };
}

/** Attempts that were claimed before the first of them ended, and that end at the same time. */
async function report(...verdicts: Verdict[]): Promise<void> {
  const target = await claimed();
  await Promise.all(verdicts.map((verdict) => worker.report({ ...target, verdict })));
}

/** The stored health of the target, with times in seconds from now. */
async function health(id = webhook) {
  const [found] = await database.query(
    `SELECT enabled, disabled_reason AS reason, failures, openings, generation, version, backlog,
       cancelling, disabled_at IS NOT NULL AS dated,
       round(extract(epoch FROM now() - failing_since))::int AS failing_for,
       round(extract(epoch FROM open_until - now()))::int AS open_for,
       round(extract(epoch FROM now() - opened_at))::int AS opened_for,
       round(extract(epoch FROM hold_until - now()))::int AS held_for
     FROM webhooks WHERE id = $1`,
    [id],
  );
  return found;
}

/** A time of the health: on a busy machine, seconds pass between two statements. */
const about = (seconds: number) => expect.closeTo(seconds, -1) as number;
const set = (what: string) =>
  database.query(`UPDATE webhooks SET ${what} WHERE id = $1`, [webhook]);
/** Sets ten failures, the first one this long ago. */
const failed = (since: string) => set(`failures = 10, failing_since = now() - interval '${since}'`);
const rowVersion = () => database.query('SELECT xmin FROM webhooks');

describe('the circuit', () => {
  it('stays closed after many failures in a short time', async () => {
    await report(...failures(50));
    expect(await health()).toMatchObject({ failures: 10, failing_for: about(0), open_for: null });
  });

  it('stays closed after few failures over a long time', async () => {
    await report(...failures(5));
    await set(`failing_since = now() - interval '1 day'`);
    await report(...failures(4));
    expect(await health()).toMatchObject({
      failures: 9,
      failing_for: about(86_400),
      open_for: null,
    });
  });

  it('opens after ten failures in a row over 30 s, and new deliveries wait', async () => {
    await report(...failures(9));
    await set(`failing_since = now() - interval '30 s'`);
    await report(FAILED);
    expect(await health()).toMatchObject({ failures: 10, openings: 1, open_for: about(30) });
    expect(await health()).toMatchObject({ failing_for: about(30), opened_for: about(0) });
    expect(await health()).toMatchObject({ backlog: true });
    expect(changes).toEqual(['opened']);
  });

  it('starts counting again after every success, even one among failures', async () => {
    await report(...failures(9));
    await set(`failing_since = now() - interval '1 day'`);
    await report(FAILED, SUCCEEDED, FAILED, FAILED);
    expect(await health()).toMatchObject({ failures: 2, failing_for: about(0), open_for: null });
    await report(SUCCEEDED);
    expect(await health()).toMatchObject({ failures: 0, failing_for: null });
  });

  it('doubles its open time with each failed probe, up to an hour, and keeps the time when it opened', async () => {
    await failed('1 minute');
    await set(`open_until = now(), opened_at = now() - interval '45 s'`);
    for (const seconds of [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
      await report(FAILED);
      // Too late: the circuit is open already.
      await report(FAILED);
      expect(await health()).toMatchObject({ open_for: about(seconds), opened_for: about(45) });
      await set('open_until = now()');
    }
  });

  it('closes with the first success, and new deliveries queue behind the backlog', async () => {
    await failed('1 minute');
    await report(FAILED);
    await set('backlog = false');
    await report(SUCCEEDED);
    expect(await health()).toMatchObject({ failures: 0, openings: 0, open_for: null });
    expect(await health()).toMatchObject({ failing_for: null, opened_for: null, backlog: true });
    expect(changes).toEqual(['opened', 'closed']);
  });

  it('needs no statement when nothing changes', async () => {
    await report(SUCCEEDED);
    await set('failures = 10, failing_since = now()');
    await report(FAILED, FAILED);
    await set(`failing_since = now() - interval '1 h', open_until = now() + interval '1 minute'`);
    const before = await rowVersion();
    await report(FAILED, FAILED);
    expect([await rowVersion(), statements]).toEqual([before, 0]);
  });

  it('needs one statement for concurrent failures of many subscriptions', async () => {
    const others = await Promise.all(
      Array.from({ length: 20 }, async () => aSubscription(database, await anAccount(database))),
    );
    const targets = await Promise.all(others.map((id) => claimed(id)));
    await Promise.all(targets.map((target) => worker.report({ ...target, verdict: FAILED })));
    expect(statements).toBe(1);
    for (const id of others) expect(await health(id)).toMatchObject({ failures: 1 });
  });
});

describe('the service disables a subscription', () => {
  const AUDIT = `SELECT user_id, actor, action, fields FROM audit
    WHERE resource_id = $1 AND account_id = (SELECT account_id FROM webhooks WHERE id::text = $1)`;
  const ENTRY = { user_id: null, actor: 'system', action: 'webhook.disable', fields: ['enabled'] };
  const OFF = { enabled: false, dated: true, generation: 2, cancelling: true, version: 2 };

  it('after five days of nothing but failures, when the next probe fails', async () => {
    await failed('5 days');
    await set(`failing_since = failing_since + interval '1 minute'`);
    await report(FAILED);
    expect(await health()).toMatchObject({ enabled: true, open_for: about(30) });
    await set(`failing_since = now() - interval '5 days', open_until = now()`);
    await report(FAILED);
    expect(await health()).toMatchObject({ ...OFF, reason: 'failing' });
    expect(changes).toEqual(['opened', 'switched_off']);
    expect(await database.query(AUDIT, [webhook])).toEqual([ENTRY]);
  });

  it('only after the circuit was open, however old the first failure is', async () => {
    await set(`failures = 1, failing_since = now() - interval '6 days'`);
    await report(...failures(20));
    expect(await health()).toMatchObject({ enabled: true, open_for: about(30) });
  });

  it('after a 410, once', async () => {
    const target = await claimed();
    await Promise.all([GONE, GONE, FAILED].map((verdict) => worker.report({ ...target, verdict })));
    await worker.report({ ...target, verdict: GONE });
    expect(await health()).toMatchObject({ ...OFF, reason: 'gone', failures: 0 });
    expect(changes).toEqual(['switched_off']);
    expect(await database.query(AUDIT, [webhook])).toEqual([ENTRY]);
  });
});

describe('a hold', () => {
  const asked = (retryAfterMs: number): Verdict => ({ kind: 'failed', retryAfterMs });

  it('lasts for the longest requested wait, and new deliveries wait', async () => {
    await report(asked(60_000), asked(600_000), FAILED);
    expect(await health()).toMatchObject({ held_for: about(600), failures: 3, backlog: true });
    await report(asked(60_000));
    expect(await health()).toMatchObject({ held_for: about(600), failures: 4 });
  });

  it('can start with a failed test, which counts for nothing else', async () => {
    await report({ kind: 'failed', immediate: true, retryAfterMs: 60_000 });
    expect(await health()).toMatchObject({ held_for: about(60), failures: 0, failing_for: null });
  });

  it('leaves an open circuit as it is', async () => {
    await failed('1 minute');
    await report(FAILED);
    await report(asked(60_000));
    expect(await health()).toMatchObject({ held_for: about(60), open_for: about(30), openings: 1 });
  });
});

it("a replaced target's failures neither count nor hold the subscription nor disable it", async () => {
  const target = await claimed();
  await set('target_version = target_version + 1');
  await worker.report({ ...target, verdict: { kind: 'failed', retryAfterMs: 60_000 } });
  await worker.report({ ...target, verdict: GONE });
  expect(await health()).toMatchObject({ enabled: true, held_for: null, failing_for: null });
});

it('verdicts change nothing for a subscription that is disabled or deleted', async () => {
  for (const [end, back] of [
    ['enabled = false', 'enabled = true'],
    ['deleted_at = now()', 'deleted_at = NULL'],
  ] as const) {
    const target = await claimed();
    await set(end);
    const before = await rowVersion();
    await worker.report({ ...target, verdict: GONE });
    expect(await rowVersion()).toEqual(before);
    await set(back);
  }
});

it('counts the failures that several workers report, each with its own view of the health', async () => {
  const target = await claimed();
  for (const each of [worker, other, worker]) await each.report({ ...target, verdict: FAILED });
  expect(await health()).toMatchObject({ failures: 3 });
  await set(`failures = 9, failing_since = now() - interval '1 minute'`);
  const before = await claimed();
  await Promise.all([worker, other].map((each) => each.report({ ...before, verdict: FAILED })));
  // Of two at the same moment, one may be postponed.
  await eventually(health, (found) => found?.['failures'] === 10);
  expect(await health()).toMatchObject({ openings: 1, open_for: about(30) });
  expect(changes).toEqual(['opened']);
});

describe('while another transaction locks the subscription', () => {
  let holder: Client;

  beforeEach(async () => {
    holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('UPDATE webhooks SET version = version + 1 WHERE id = $1', [webhook]);
  });
  afterEach(() => holder.end());

  it('verdicts are postponed, then applied in their order', async () => {
    await report(...failures(5));
    await report(SUCCEEDED);
    await report({ kind: 'failed', retryAfterMs: 60_000 });
    await report(FAILED);
    expect(await health()).toMatchObject({ failures: 0 });
    await holder.query('COMMIT');
    await eventually(health, (found) => found?.['failures'] === 2);
    expect(await health()).toMatchObject({ version: 2, open_for: null });
    expect(Number((await health())?.['held_for'])).toBeGreaterThan(50);
  });

  it('a postponed 410 disables the subscription afterwards', async () => {
    await report(GONE);
    await holder.query('COMMIT');
    await eventually(health, (found) => found?.['enabled'] === false);
    expect(await health()).toMatchObject({ reason: 'gone', version: 3 });
  });

  it('verdicts on other subscriptions are applied at once, and no connection waits for the lock', async () => {
    const free = await aSubscription(database, await anAccount(database));
    const [locked, target] = [await claimed(), await claimed(free)];
    await Promise.all([
      worker.report({ ...locked, verdict: FAILED }),
      worker.report({ ...target, verdict: FAILED }),
    ]);
    expect(await health(free)).toMatchObject({ failures: 1 });
    expect(statements).toBe(1);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    expect(await database.query(waiting)).toEqual([]);
    await holder.query('ROLLBACK');
    await eventually(health, (found) => found?.['failures'] === 1);
  });

  it('postponed verdicts on an old target do not affect a new one', async () => {
    await report(GONE);
    await holder.query('UPDATE webhooks SET target_version = target_version + 1 WHERE id = $1', [
      webhook,
    ]);
    await holder.query('COMMIT');
    // Reported later, and so applied later.
    await report(FAILED);
    await eventually(health, (found) => found?.['failures'] === 1);
    expect(await health()).toMatchObject({ enabled: true });
  });
});
