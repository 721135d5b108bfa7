import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretBox } from '#libs/kernel';
import { Database, Log, Metrics, readConfig } from '#libs/runtime';
import type { DueClaim, Pace } from '../domain/due-schedule.js';
import type { Conclusion, LeasedDelivery } from '../domain/pending-deliveries.js';
import { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import {
  CANCEL_REQUESTED,
  REDELIVER,
  SEND_NOW,
} from '../../deliveries/infrastructure/postgres-delivery.store.js';
import { type Day, dayOf } from '../../partitions/partition-days.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import { LOOK } from '../due-deliveries.statements.js';
import type { PendingDays } from '../pending-days.js';
import { PostgresPendingDeliveries } from './postgres-pending-deliveries.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { asRole } from '../../../../../test/support/environment.js';
import { partitionsOf } from '../../../../../test/support/past.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../../test/support/rows.js';

const SUCCEEDED: Conclusion = { state: 'succeeded' };
const RETRIED: Conclusion = { state: 'pending', delayMs: 60_000 };

let database: TestDatabase;
let source: DataSource;
let pending: PostgresPendingDeliveries;
let webhook: string;
let today: Day;
let pendingDays: Day[];

beforeAll(async () => {
  database = await createTestDatabase();
  const url = asRole(database.url, 'worker');
  source = await new DataSource({ type: 'postgres', url }).initialize();
  const config = readConfig({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
  pending = new PostgresPendingDeliveries(
    new Database(source, new Metrics(), new Log(config, 'test'), config),
    new WebhookSecrets(new SecretBox([])),
    { leasesExpired: () => undefined } as unknown as DeliveryMetrics,
    { all: () => Promise.resolve(pendingDays) } as unknown as PendingDays,
    new Log(config, 'test'),
    config,
  );
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, events, attempts');
  pendingDays = [];
});

/** A subscription with this pace and pending deliveries. @returns their ids, oldest first */
async function withDeliveries(count: number, columns: Record<string, unknown>): Promise<string[]> {
  webhook = await aSubscription(database, await anAccount(database), columns);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await aPendingDelivery(database, webhook));
  today = dayOf(ids[0]!);
  return ids;
}

function claim(pace: Pace, change: Partial<DueClaim> = {}): Promise<LeasedDelivery[]> {
  const asked = { webhookId: webhook, accountId: '1', day: today, most: 50, dueForMs: Infinity };
  return pending.claim([{ ...asked, probe: false, immediate: false, pace, ...change }]);
}

const idsOf = (deliveries: readonly LeasedDelivery[]) => deliveries.map(({ id }) => id);

async function record(
  delivery: LeasedDelivery,
  conclusion: Conclusion,
  { holdsPlace } = { holdsPlace: true },
): Promise<void> {
  const { id, lease, attempt: number, scheduleBase } = delivery;
  const attempt = { number, at: delivery.takenAt, durationMs: 5, truncated: false };
  const outcome = { id, lease, attempt, conclusion, scheduleBase, ifRestarted: conclusion };
  await pending.record({ ...outcome, holdsPlace });
}

/** As if this many ms had passed, for the deliveries, their subscription and the leases. */
async function later(ms: number): Promise<void> {
  const earlier = (column: string) =>
    `${column} = ${column} - make_interval(secs => ${ms} / 1000.0)`;
  await database.query(
    `UPDATE deliveries SET ${['next_attempt_at', 'not_before', 'resumes_at', 'claimed_until', 'created_at'].map(earlier).join()}`,
  );
  await database.query(
    `UPDATE webhooks SET ${earlier('paced_until')}, in_flight = (
       SELECT jsonb_object_agg(key, value::timestamptz - make_interval(secs => ${ms} / 1000.0))
       FROM jsonb_each_text(in_flight))`,
  );
}

/** Moves the time before which the rate allows no claim, as a claim on a busy machine may come late. */
async function untilPaced(change: '+ 1 min' | '- 1 min'): Promise<void> {
  await database.query('UPDATE webhooks SET paced_until = paced_until + $1::interval', [change]);
}

async function subscription() {
  const [row] = await database.query<{ in_flight: object | null; pace_waits: boolean }>(
    'SELECT in_flight, pace_waits FROM webhooks',
  );
  return row!;
}

/** Locks rows of a table while it works. */
async function whileLocked(table: string, work: () => Promise<unknown>): Promise<void> {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query(`BEGIN; SELECT FROM ${table} FOR UPDATE`);
    await work();
    await other.query('ROLLBACK');
  } finally {
    await other.end();
  }
}

describe('maxPerSecond', () => {
  it('claims what has accrued in 100 ms and one more, and says when the next may be claimed', async () => {
    const ids = await withDeliveries(10, { max_per_second: 20 });
    const first = await claim('rate');
    expect(idsOf(first)).toEqual(ids.slice(0, 3));
    expect(first[0]!.subscription.pacedMs).toBe(50);
  });

  it('makes up for claims that come late by up to 100 ms', async () => {
    await withDeliveries(40, { max_per_second: 20 });
    const start = performance.now();
    let claimed = (await claim('rate')).length;
    for (let ms = 0; ms < 1_000; ms += 125) {
      await later(125);
      claimed += (await claim('rate')).length;
    }
    expect(claimed).toBeGreaterThanOrEqual(3 + 20);
    const seconds = 1 + (performance.now() - start) / 1_000;
    expect(claimed).toBeLessThanOrEqual(3 + 20 * seconds);
  });

  it('claims one at least, however low the rate', async () => {
    const ids = await withDeliveries(3, { max_per_second: 1 });
    const first = await claim('rate');
    expect(idsOf(first)).toEqual(ids.slice(0, 1));
    expect(first[0]!.subscription.pacedMs).toBe(900);
    await untilPaced('+ 1 min');
    expect(await claim('rate')).toEqual([]);
    await untilPaced('- 1 min');
    await later(1_000);
    expect(await claim('rate')).toHaveLength(1);
  });

  it('holds for several workers that claim at the same moment', async () => {
    await withDeliveries(30, { max_per_second: 1 });
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim('rate')));
    expect(claims.flat()).toHaveLength(1);
  });

  it('takes no room for deliveries that are cancelled', async () => {
    await withDeliveries(2, { max_per_second: 10 });
    await database.query('UPDATE webhooks SET generation = 2');
    expect(await claim('rate')).toEqual([]);
    await database.query(`UPDATE deliveries SET state = 'pending', generation = 2`);
    expect(await claim('rate')).toHaveLength(2);
  });

  it('shows whether deliveries exceed it', async () => {
    await withDeliveries(3, { max_per_second: 10 });
    await claim('rate');
    expect((await subscription()).pace_waits).toBe(true);
    await later(100);
    await claim('rate');
    expect((await subscription()).pace_waits).toBe(false);
  });
});

describe('maxConcurrent', () => {
  it('claims as many as have a place, and one more when one is recorded or released', async () => {
    await withDeliveries(5, { max_concurrent: 2 });
    const [one, two] = await claim('concurrency');
    expect(await claim('concurrency')).toEqual([]);
    await record(one!, SUCCEEDED);
    expect(await claim('concurrency')).toHaveLength(1);
    await pending.release(two!);
    expect(await claim('concurrency')).toHaveLength(1);
    expect(await claim('concurrency')).toEqual([]);
  });

  it('frees the places of a dead worker when its leases end', async () => {
    const ids = await withDeliveries(4, { max_concurrent: 2 });
    await claim('concurrency');
    await later(20_000);
    expect(await claim('concurrency')).toEqual([]);
    await later(11_000);
    expect(await claim('concurrency')).toHaveLength(2);
    expect(Object.keys((await subscription()).in_flight!)).toHaveLength(2);
    expect(ids).toHaveLength(4);
  });

  it('frees no place of another worker when one that lost its lease records', async () => {
    await withDeliveries(2, { max_concurrent: 1 });
    const [lost] = await claim('concurrency');
    await later(31_000);
    await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE id <> $1', [
      lost!.id,
    ]);
    const [present] = await claim('concurrency');
    expect(present!.id).toBe(lost!.id);
    await record(lost!, RETRIED);
    expect(await claim('concurrency')).toEqual([]);
  });

  it('holds for several workers that claim at the same moment', async () => {
    await withDeliveries(30, { max_concurrent: 3 });
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim('concurrency')));
    expect(claims.flat()).toHaveLength(3);
  });

  it('records at once while the subscription is locked, and frees the place afterwards', async () => {
    await withDeliveries(2, { max_concurrent: 1 });
    const [one] = await claim('concurrency');
    let recording: Promise<void> | undefined;
    await whileLocked('webhooks', async () => {
      recording = record(one!, SUCCEEDED);
      await expect
        .poll(() => database.query(`SELECT FROM deliveries WHERE state = 'succeeded'`))
        .toHaveLength(1);
    });
    await recording;
    expect(await claim('concurrency')).toHaveLength(1);
  });
});

describe('ordered', () => {
  it('claims the first one, and the next when that is recorded', async () => {
    const ids = await withDeliveries(3, { ordered: true });
    for (const id of ids) {
      const [delivery, ...others] = await claim('order');
      expect([delivery?.id, others]).toEqual([id, []]);
      expect(await claim('order')).toEqual([]);
      await record(delivery!, SUCCEEDED);
    }
    expect(await claim('order')).toEqual([]);
  });

  it('holds the others until the retry of one that failed', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await record((await claim('order'))[0]!, RETRIED);
    expect(await claim('order')).toEqual([]);
    expect((await subscription()).pace_waits).toBe(true);
    await later(60_000);
    const [again] = await claim('order');
    expect([again?.id, again?.attempt]).toEqual([ids[0], 2]);
    await record(again!, { state: 'exhausted', reason: 'no_attempts_left' });
    expect(idsOf(await claim('order'))).toEqual([ids[1]]);
  });

  it('goes on when the one that waits for its retry is cancelled', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await record((await claim('order'))[0]!, RETRIED);
    await database.run(CANCEL_REQUESTED, { id: ids[0]! });
    expect(idsOf(await claim('order'))).toEqual([ids[1]]);
  });

  it('sends one at a time although the one in flight is cancelled', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    const [one] = await claim('order');
    await database.run(CANCEL_REQUESTED, { id: ids[0]! });
    expect(await claim('order')).toEqual([]);
    await record(one!, RETRIED);
    expect(idsOf(await claim('order'))).toEqual([ids[1]]);
  });

  it('sends a redelivery before those accepted later', async () => {
    const ids = await withDeliveries(3, { ordered: true });
    await record((await claim('order'))[0]!, SUCCEEDED);
    await database.run(REDELIVER, { id: ids[0]!, hasRoom: true, timeoutMs: 15_000 });
    expect(idsOf(await claim('order'))).toEqual([ids[0]]);
  });

  it('sends a redelivery at once, although it had to wait for a retry when it was cancelled', async () => {
    const ids = await withDeliveries(1, { ordered: true });
    await record((await claim('order'))[0]!, RETRIED);
    await database.run(CANCEL_REQUESTED, { id: ids[0]! });
    await database.run(REDELIVER, { id: ids[0]!, hasRoom: true, timeoutMs: 15_000 });
    expect(idsOf(await claim('order'))).toEqual([ids[0]]);
  });

  it('keeps the place of one that is released, after its delay', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    const [one] = await claim('order');
    await pending.release(one!);
    const [again] = await claim('order');
    expect(again!.id).toBe(ids[0]);
    await pending.release(again!, 5_000);
    expect(await claim('order')).toEqual([]);
    await later(5_000);
    expect(idsOf(await claim('order'))).toEqual([ids[0]]);
  });

  it('holds the others while one that failed is sent now, and keeps its schedule if that fails', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await record((await claim('order'))[0]!, RETRIED);
    await database.run(SEND_NOW, { id: ids[0]!, hasRoom: false, timeoutMs: 15_000 });
    expect(await claim('order')).toEqual([]);
    const [extra] = await claim(null, { immediate: true });
    expect(extra).toMatchObject({ id: ids[0], isExtra: true });
    expect(await claim('order')).toEqual([]);
    await pending.release(extra!);
    expect(await claim('order')).toEqual([]);
    const [again] = await claim(null, { immediate: true });
    await record(again!, { state: 'pending', delayMs: 0, resumes: true }, { holdsPlace: false });
    expect(await claim('order')).toEqual([]);
    await later(60_000);
    expect(idsOf(await claim('order'))).toEqual([ids[0]]);
  });

  it('holds one that is sent now for the delay of its release', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await database.run(SEND_NOW, { id: ids[0]!, hasRoom: false, timeoutMs: 15_000 });
    const [extra] = await claim(null, { immediate: true });
    await pending.release(extra!, 60_000);
    const found = async () => {
      const rows = await database.run(LOOK(today), { after: '0', limit: 500 });
      return rows.filter(({ immediate }) => immediate).length;
    };
    expect([await found(), await claim(null, { immediate: true })]).toEqual([0, []]);
    await later(60_000);
    expect(await found()).toBe(1);
    expect(idsOf(await claim(null, { immediate: true }))).toEqual([ids[0]]);
  });

  it('does not skip one whose row is locked', async () => {
    await withDeliveries(2, { ordered: true });
    await whileLocked('deliveries', async () => {
      expect(await claim('order')).toEqual([]);
    });
    expect(await claim('order')).toHaveLength(1);
  });

  it('does not let a worker that lost its lease unblock the order', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    const [lost] = await claim('order');
    await later(31_000);
    const [present] = await claim('order');
    expect([lost!.id, present!.id]).toEqual([ids[0], ids[0]]);
    await record(lost!, RETRIED);
    expect(await claim('order')).toEqual([]);
    // It was delivered, but the other worker may be sending it at this moment.
    await record(lost!, SUCCEEDED);
    expect(await claim('order')).toEqual([]);
    await record(present!, SUCCEEDED);
    expect(idsOf(await claim('order'))).toEqual([ids[1]]);
  });

  it('finds one that was committed late, although later ones were sent before', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await database.query(
      `UPDATE deliveries SET created_at = now() - interval '10 s', next_attempt_at = now() - interval '10 s'
       WHERE id = $1`,
      [ids[1]],
    );
    expect(idsOf(await claim('order', { dueForMs: 100 }))).toEqual([ids[1]]);
  });

  it.each([1, 3])('sends none while one of %i days before is pending', async (daysAgo) => {
    const ids = await withDeliveries(2, { ordered: true });
    await partitionsOf(database, daysAgo);
    const time = `now() - interval '${daysAgo} days'`;
    await database.query(
      `UPDATE deliveries SET id = new_uuid(${time}, 2), created_at = ${time}, next_attempt_at = ${time}
       WHERE id = $1`,
      [ids[0]],
    );
    const [earlier] = await database.query<{ id: string }>(
      'SELECT min(id::text) AS id FROM deliveries',
    );
    await database.query(
      'UPDATE deliveries SET event_id = (SELECT max(id::text)::uuid FROM events)',
    );
    pendingDays = [today, dayOf(earlier!.id)];
    expect(await claim('order')).toEqual([]);
    await database.query(`UPDATE deliveries SET state = 'cancelled' WHERE id = $1`, [earlier!.id]);
    expect(idsOf(await claim('order'))).toEqual([ids[1]]);
  });

  it('keeps the rate as well', async () => {
    await withDeliveries(3, { ordered: true, max_per_second: 1 });
    const [one] = await claim('order');
    await record(one!, SUCCEEDED);
    await untilPaced('+ 1 min');
    expect(await claim('order')).toEqual([]);
    await untilPaced('- 1 min');
    await later(1_000);
    expect(await claim('order')).toHaveLength(1);
  });

  it('is due in a scan when the lease or the retry of the first one is', async () => {
    await withDeliveries(2, { ordered: true });
    const dueInMs = async () => {
      const [row] = await database.run(LOOK(today), { after: '0', limit: 500 });
      expect(row?.pace).toBe('order');
      return row!.dueInMs;
    };
    expect(await dueInMs()).toBeLessThanOrEqual(0);
    const [one] = await claim('order');
    expect(await dueInMs()).toBeGreaterThan(20_000);
    await record(one!, RETRIED);
    expect(await dueInMs()).toBeGreaterThan(50_000);
  });
});

describe('any pace', () => {
  it.each([{ max_per_second: 10 }, { max_concurrent: 1 }, { ordered: true }])(
    '%j: claims nothing of one that is paused or held, or whose circuit is open',
    async (columns) => {
      await withDeliveries(1, columns);
      for (const blocked of [
        'paused = true',
        `hold_until = now() + interval '1 h'`,
        'open_until = now()',
      ]) {
        await database.query(`UPDATE webhooks SET ${blocked}`);
        expect(await claim('order')).toEqual([]);
        await database.query(
          'UPDATE webhooks SET paused = false, hold_until = NULL, open_until = NULL',
        );
      }
      expect(await claim('order')).toHaveLength(1);
    },
  );

  it('does not hold tests', async () => {
    await withDeliveries(2, { ordered: true });
    await claim('order');
    await database.query('UPDATE deliveries SET immediate = true WHERE claimed_until IS NULL');
    expect(await claim(null, { immediate: true })).toHaveLength(1);
  });

  it('is not passed by claims and jobs of workers that do not know it', async () => {
    const ids = await withDeliveries(1, { max_per_second: 10 });
    expect(await claim(null)).toEqual([]);
    await database.query(
      `UPDATE deliveries SET takes = 1, claimed_until = now() + interval '30 s', next_attempt_at = now() + interval '30 s'`,
    );
    expect(await pending.load({ id: ids[0]!, lease: 1 })).toBeUndefined();
    expect(await claim('rate')).toHaveLength(1);
  });

  it('leaves nothing behind when it is taken away', async () => {
    const ids = await withDeliveries(2, { ordered: true });
    await record((await claim('order'))[0]!, RETRIED);
    await database.query('UPDATE webhooks SET ordered = false');
    expect(await claim('order')).toEqual([]);
    // The retry keeps its time.
    expect(idsOf(await claim(null))).toEqual([ids[1]]);
    await later(60_000);
    expect(idsOf(await claim(null))).toContain(ids[0]);
  });
});
