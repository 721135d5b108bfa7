import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database, Log, Metrics, readConfig, SecretBox } from '#libs/kernel';
import type {
  CalledTarget,
  Conclusion,
  TakenDelivery,
} from '../../libs/webhooks/src/domain/pending-deliveries.js';
import { WebhookSecrets } from '../../libs/webhooks/src/domain/webhook-secrets.js';
import { FEED_ALL } from '../../libs/webhooks/src/infrastructure/delivery-feeder.statements.js';
import type { DeliveryMetrics } from '../../libs/webhooks/src/infrastructure/delivery-metrics.js';
import {
  CANCEL_REQUESTED,
  REDELIVER,
} from '../../libs/webhooks/src/infrastructure/delivery.statements.js';
import { PostgresPendingDeliveries } from '../../libs/webhooks/src/infrastructure/postgres-pending-deliveries.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aPendingDelivery, aSubscription, anAccount } from '../support/rows.js';

const LEASE_MS = 30_000;
const FAILED: Conclusion = { state: 'pending', delayMs: 60_000 };
const SUCCEEDED: Conclusion = { state: 'succeeded' };

let database: TestDatabase;
let source: DataSource;
let pending: PostgresPendingDeliveries;
let id: string;
let changes: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  const config = readConfig({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  pending = new PostgresPendingDeliveries(
    new Database(source, new Metrics(), new Log(config, 'test'), config),
    new WebhookSecrets(new SecretBox([])),
    { healthChanged: (change: string) => changes.push(change) } as unknown as DeliveryMetrics,
    new Log(config, 'test'),
    config,
  );
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  changes = [];
  await database.query('TRUNCATE webhooks, deliveries, events, attempts');
  id = await aPendingDelivery(database, await aSubscription(database, await anAccount(database)));
});

async function feed(): Promise<void> {
  expect(await database.query(FEED_ALL.text, [10, LEASE_MS, 10, 10, 1, '{}', 10, 10])).toHaveLength(
    1,
  );
}

/** Feeds the delivery, and has a worker take it. */
async function taken(attempt = 1): Promise<TakenDelivery> {
  await feed();
  const delivery = await pending.take({ id, attempt });
  if (!delivery) throw new Error('it was not there to take');
  return delivery;
}

/** Two workers that both believe they have the delivery: the claim of the first has ended. */
async function takenTwice(): Promise<[stopped: TakenDelivery, present: TakenDelivery]> {
  const stopped = await taken();
  await database.query(`UPDATE deliveries SET claimed_until = now() - interval '1 s'`);
  return [stopped, await taken()];
}

async function record(delivery: TakenDelivery, conclusion: Conclusion): Promise<void> {
  const attempt = { number: delivery.attempt, at: delivery.takenAt, durationMs: 5 };
  await pending.record({
    id: delivery.id,
    take: delivery.take,
    attempt: { ...attempt, truncated: false },
    conclusion,
  });
}

/** Records them in one statement: what gathers while another is under way. */
async function recordTogether(outcomes: [TakenDelivery, Conclusion][]): Promise<void> {
  const [[delivery]] = outcomes as [[TakenDelivery, Conclusion]];
  const nobodys = { ...delivery, id: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95' };
  await Promise.all([record(nobodys, SUCCEEDED), ...outcomes.map((outcome) => record(...outcome))]);
}

async function row() {
  const [found] = await database.query<{ state: string; attempts: number; taken: boolean }>(
    'SELECT state, attempts, taken FROM deliveries',
  );
  return found;
}

const logged = async () => (await database.query('SELECT FROM attempts')).length;

it('gives one delivery to one worker, however many jobs it has', async () => {
  await taken();
  expect(await pending.take({ id, attempt: 1 })).toBeUndefined();
});

it('ends a delivery whose event is gone, which nobody could ever send', async () => {
  await feed();
  await database.query('TRUNCATE events');
  expect(await pending.take({ id, attempt: 1 })).toBeUndefined();
  expect(
    await database.query('SELECT state, reason, taken, claimed_until FROM deliveries'),
  ).toEqual([{ state: 'exhausted', reason: 'expired', taken: false, claimed_until: null }]);
});

it('logs the late failure of a worker that was given up, and changes nothing', async () => {
  const [stopped, present] = await takenTwice();
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'pending', attempts: 0, taken: true });
  await record(present, SUCCEEDED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
  expect(await logged()).toBe(2);
});

it('lets no late failure undo a success', async () => {
  const [stopped, present] = await takenTwice();
  await record(present, SUCCEEDED);
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it('takes the late success of a worker that was given up for what it is', async () => {
  const [stopped, present] = await takenTwice();
  await record(stopped, SUCCEEDED);
  await record(present, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it('takes a late success also after a newer failure', async () => {
  const [stopped, present] = await takenTwice();
  await record(present, FAILED);
  await record(stopped, SUCCEEDED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
});

it.each([0, 1])(
  'judges each of two outcomes that are recorded together by itself',
  async (first) => {
    const [stopped, present] = await takenTwice();
    await recordTogether(
      [
        [stopped, first === 0 ? SUCCEEDED : FAILED] as [TakenDelivery, Conclusion],
        [present, first === 0 ? FAILED : SUCCEEDED] as [TakenDelivery, Conclusion],
      ].reverse(),
    );
    expect(await row()).toEqual({ state: 'succeeded', attempts: 1, taken: false });
    expect(await logged()).toBe(2);
  },
);

it('records of each of many what came of it, in whatever order', async () => {
  const [webhook] = await database.query<{ id: string }>('SELECT id FROM webhooks');
  for (let made = 1; made < 9; made += 1) await aPendingDelivery(database, webhook!.id);
  await database.query(FEED_ALL.text, [10, LEASE_MS, 10, 10, 1, '{}', 10, 10]);
  const ids = (
    await database.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id DESC')
  ).map((found) => found.id);
  const all = await Promise.all(ids.map((one) => pending.take({ id: one, attempt: 1 })));
  const ends = (place: number): Conclusion => {
    if (place % 3 === 0) return { state: 'pending', delayMs: (place + 1) * 60_000 };
    return place % 3 === 1 ? SUCCEEDED : { state: 'exhausted', reason: 'gone' };
  };
  await recordTogether(all.map((delivery, place) => [delivery!, ends(place)]));
  const rows = await database.query<object>(
    `SELECT id, state, reason, round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS minutes
     FROM deliveries ORDER BY id DESC`,
  );
  expect(rows).toEqual(
    ids.map((one, place) => {
      const conclusion = ends(place);
      return {
        id: one,
        state: conclusion.state,
        reason: conclusion.state === 'exhausted' ? 'gone' : null,
        minutes: conclusion.state === 'pending' ? place + 1 : null,
      };
    }),
  );
});

it('lets a success of an earlier schedule end no redelivery', async () => {
  const delivery = await taken();
  await record(delivery, SUCCEEDED);
  await database.query(REDELIVER.text, [id, false, LEASE_MS]);
  await record(delivery, SUCCEEDED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, taken: false });
});

it('gives nobody a delivery whose customer cancelled it while its job was in the queue', async () => {
  await feed();
  expect(await database.query(CANCEL_REQUESTED.text, [id])).toHaveLength(1);
  expect(await pending.take({ id, attempt: 1 })).toBeUndefined();
  expect(await row()).toEqual({ state: 'cancelled', attempts: 0, taken: false });
});

it('keeps a delivery that was cancelled while it was taken from being sent anew meanwhile', async () => {
  const delivery = await taken();
  await database.query(CANCEL_REQUESTED.text, [id]);
  expect(await database.query(REDELIVER.text, [id, false, LEASE_MS])).toEqual([]);
  await pending.release(delivery, 'stopping');
  expect(await row()).toEqual({ state: 'cancelled', attempts: 0, taken: false });
  expect(await database.query(REDELIVER.text, [id, false, LEASE_MS])).toHaveLength(1);
});

it('leaves to its present worker what one that was given up hands back', async () => {
  const [stopped] = await takenTwice();
  await pending.release(stopped, 'held');
  expect(await row()).toEqual({ state: 'pending', attempts: 0, taken: true });
});

it('records an outcome once, though it is told twice', async () => {
  const delivery = await taken();
  await record(delivery, FAILED);
  await record(delivery, FAILED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, taken: false });
  expect(await logged()).toBe(1);
});

async function presentTarget(): Promise<CalledTarget> {
  const [webhook] = await database.query<{ id: string; target_version: number }>(
    'SELECT id, target_version FROM webhooks',
  );
  return { webhookId: webhook!.id, targetVersion: webhook!.target_version };
}

/** Attempts of the subscription, at once: what ended well, and what did not. */
async function observe(...outcomes: boolean[]): Promise<void> {
  const target = await presentTarget();
  await Promise.all(outcomes.map((succeeded) => pending.observe({ ...target, succeeded })));
}

/** What is stored of the target's health, times as seconds from now. */
async function health() {
  const [found] = await database.query(
    `SELECT enabled, disabled_reason AS reason, failures, openings, generation, backlog,
       round(extract(epoch FROM now() - failing_since))::int AS failing_for,
       round(extract(epoch FROM open_until - now()))::int AS open_for,
       closed_at > now() - interval '10 s' AS just_closed,
       hold_until IS NOT NULL AS held
     FROM webhooks`,
  );
  return found;
}

const age = (what: string) => database.query(`UPDATE webhooks SET ${what}`);
const failures = (count: number) => Array.from({ length: count }, () => false);

describe('the circuit of a subscription', () => {
  it('stays closed after many failures in a short time', async () => {
    await observe(...failures(50));
    expect(await health()).toMatchObject({ failures: 10, failing_for: 0, open_for: null });
  });

  it('stays closed after few failures over a long time', async () => {
    await observe(...failures(5));
    await age(`failing_since = now() - interval '1 day'`);
    await observe(...failures(4));
    expect(await health()).toMatchObject({ failures: 9, failing_for: 86_400, open_for: null });
  });

  it('opens after ten failures in a row over 30 s, and sends what is accepted to the back', async () => {
    await observe(...failures(9));
    await age(`failing_since = now() - interval '30 s'`);
    await observe(false);
    expect(await health()).toMatchObject({ failures: 10, open_for: 30, backlog: true });
    expect(changes).toEqual(['opened']);
  });

  it('begins anew with every success, also with one among failures', async () => {
    await observe(...failures(9));
    await age(`failing_since = now() - interval '1 day'`);
    await observe(false, true, false, false);
    expect(await health()).toMatchObject({ failures: 2, failing_for: 0, open_for: null });
    await observe(true);
    expect(await health()).toMatchObject({ failures: 0, failing_for: null });
  });

  it('opens for twice as long with each probe that fails, to an hour, and not by what is late', async () => {
    await age(`failures = 10, failing_since = now() - interval '1 minute'`);
    for (const seconds of [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
      await observe(false);
      await observe(false);
      expect(await health()).toMatchObject({ open_for: seconds });
      await age('open_until = now()');
    }
  });

  it('closes with the first success', async () => {
    await age(`failures = 10, failing_since = now() - interval '1 minute', backlog = false`);
    await observe(false);
    await observe(true);
    expect(await health()).toMatchObject({ failures: 0, openings: 0, open_for: null });
    expect(await health()).toMatchObject({ failing_for: null, just_closed: true, backlog: true });
    expect(changes).toEqual(['opened', 'closed']);
  });

  it('writes nothing as long as nothing changes', async () => {
    const version = () => database.query('SELECT xmin FROM webhooks');
    await observe(...failures(10));
    const before = await version();
    await observe(false, false);
    expect(await version()).toEqual(before);
  });

  it('is not told by what a target did that was replaced, nor held or switched off by it', async () => {
    const target = await presentTarget();
    await age('target_version = target_version + 1');
    await pending.observe({ ...target, succeeded: false });
    await pending.hold(target, 60_000);
    await pending.switchOff(target);
    expect(await health()).toMatchObject({ enabled: true, held: false });
    expect(await health()).toMatchObject({ failures: 0, failing_for: null });
  });
});

it('switches off what has only failed for five days, when the next probe fails', async () => {
  await age(`failures = 10, failing_since = now() - interval '5 days' + interval '1 minute'`);
  await observe(false);
  expect(await health()).toMatchObject({ enabled: true, open_for: 30 });
  await age(`failing_since = now() - interval '5 days', open_until = now()`);
  await observe(false);
  expect(await health()).toMatchObject({ enabled: false, reason: 'failing', generation: 2 });
  expect(changes).toEqual(['opened', 'switched_off']);
  // Once, and by nothing of what came before.
  expect(
    await database.query(
      `SELECT user_id, actor, action, fields FROM audit JOIN webhooks w
         ON w.id::text = resource_id AND w.account_id = audit.account_id`,
    ),
  ).toEqual([{ user_id: null, actor: 'system', action: 'webhook.disable', fields: ['enabled'] }]);
});

it('opens the circuit before it switches off, however long ago the first failure was', async () => {
  await age(`failures = 1, failing_since = now() - interval '6 days'`);
  await observe(...failures(20));
  expect(await health()).toMatchObject({ enabled: true, open_for: 30 });
  await age('open_until = now()');
  await observe(false);
  expect(await health()).toMatchObject({ enabled: false, reason: 'failing' });
});

it("claims what it takes for as long as the subscription's own time-out may last", async () => {
  await database.query(`UPDATE webhooks SET retry = '{"schedule": [], "timeoutMs": 20000}'`);
  const { subscription } = await taken();
  expect(subscription.retry).toEqual({ schedule: [], timeoutMs: 20_000 });
  const [claim] = await database.query<{ seconds: number }>(
    'SELECT extract(epoch FROM claimed_until - now())::float8 AS seconds FROM deliveries',
  );
  expect(claim?.seconds).toBeGreaterThan(33);
  expect(claim?.seconds).toBeLessThanOrEqual(35);
});

it('waits for nobody who has locked a subscription', async () => {
  const delivery = await taken();
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('UPDATE webhooks SET version = version + 1');
    await pending.release(delivery, 'no_share');
    await observe(false);
    await other.query('ROLLBACK');
  } finally {
    await other.end();
  }
  expect(await row()).toMatchObject({ taken: false });
  await observe(false);
  expect(await health()).toMatchObject({ failures: 1 });
});
