import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretBox } from '#libs/kernel';
import { Database, Log, Metrics, PROCESS_ID, readConfig } from '#libs/runtime';
import type { DueClaim } from '../domain/due-schedule.js';
import {
  type Conclusion,
  type LeasedDelivery,
  RefusedOutcomeError,
} from '../domain/pending-deliveries.js';
import { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import {
  CANCEL_REQUESTED,
  REDELIVER,
  SEND_NOW,
} from '../../deliveries/infrastructure/postgres-delivery.store.js';
import { type Day, dayOf } from '../../partitions/partition-days.js';
import type { PendingDays } from '../pending-days.js';
import { CLEAR_BACKLOG, LOOK, MARK_BACKLOG } from '../due-deliveries.statements.js';
import { RELEASE, releasesOf } from '../../queue/leases.statements.js';
import { PostgresPendingDeliveries } from './postgres-pending-deliveries.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { asRole } from '../../../../../test/support/environment.js';
import { aPendingDelivery, aSubscription, anAccount } from '../../../../../test/support/rows.js';

const JOB_LEASE = 1;
const FAILED: Conclusion = { state: 'pending', delayMs: 60_000 };
const RESUMES: Conclusion = { state: 'pending', delayMs: 0, resumes: true };
const SUCCEEDED: Conclusion = { state: 'succeeded' };

let database: TestDatabase;
let source: DataSource;
let pending: PostgresPendingDeliveries;
let webhook: string;
let id: string;
let expired: number;
let pendingDays: Day[];

beforeAll(async () => {
  database = await createTestDatabase();
  const url = asRole(database.url, 'worker');
  source = await new DataSource({ type: 'postgres', url }).initialize();
  const config = readConfig({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
  pending = new PostgresPendingDeliveries(
    new Database(source, new Metrics(), new Log(config, 'test'), config),
    new WebhookSecrets(new SecretBox([])),
    { leasesExpired: (count: number) => (expired += count) } as unknown as DeliveryMetrics,
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
  expired = 0;
  pendingDays = [];
  await database.query('TRUNCATE webhooks, deliveries, events, attempts');
  webhook = await aSubscription(database, await anAccount(database));
  id = await aPendingDelivery(database, webhook);
});

const redeliver = () => database.run(REDELIVER, { id, hasRoom: false, timeoutMs: 15_000 });

/** @returns the number of the lease of its job, if it goes onto the queue */
async function sendNow(hasRoom = false): Promise<number | undefined> {
  const [sent] = await database.run(SEND_NOW, { id, hasRoom, timeoutMs: 15_000 });
  if (!sent) throw new Error('it was not there to send');
  return sent.queued ? sent.lease : undefined;
}

const endQueueLease = (lease: number) =>
  database.run(RELEASE(dayOf(id)), releasesOf([{ id, lease }], 15_000));

/** The schedule of the delivery: how many attempts count, and the seconds until the next one. */
async function schedule() {
  const [found] = await database.query<{ tries: number; in_s: number; immediate: boolean }>(
    `SELECT attempts - schedule_base - coalesce(extra_attempts, 0) AS tries, immediate,
       extract(epoch FROM next_attempt_at - now())::float8 AS in_s FROM deliveries`,
  );
  return { ...found!, in_s: Math.round(found!.in_s / 10) * 10 };
}

const BLOCKED = `paused = true, hold_until = now() + interval '1 hour', open_until = now() + interval '1 hour'`;

/** Leases the deliveries as accepting does for those that it queues. */
async function enqueue(): Promise<void> {
  await database.query(
    `UPDATE deliveries
     SET takes = 1, claimed_until = now() + interval '30 s', next_attempt_at = now() + interval '30 s'`,
  );
}

/** Has a worker take the delivery from the queue. */
async function taken(): Promise<LeasedDelivery> {
  await enqueue();
  const delivery = await pending.load({ id, lease: JOB_LEASE });
  if (!delivery) throw new Error('it was not there to take');
  return delivery;
}

async function claim(change: Partial<DueClaim> = {}): Promise<LeasedDelivery[]> {
  const day = dayOf(id);
  const asked = { webhookId: webhook, accountId: '1', day, most: 10, dueForMs: Infinity };
  return pending.claim([{ ...asked, probe: false, immediate: false, pace: null, ...change }]);
}

async function claimedOne(): Promise<LeasedDelivery> {
  const deliveries = await claim();
  expect(deliveries).toHaveLength(1);
  return deliveries[0]!;
}

const endLeases = () =>
  database.query(
    `UPDATE deliveries SET claimed_until = now() - interval '1 s', next_attempt_at = now() - interval '1 s'`,
  );

/** Two workers that both believe they hold the delivery: the first one's lease has expired. */
async function leasedTwice(): Promise<[stopped: LeasedDelivery, present: LeasedDelivery]> {
  const stopped = await taken();
  await endLeases();
  return [stopped, await claimedOne()];
}

async function record(delivery: LeasedDelivery, conclusion: Conclusion, ifRestarted = conclusion) {
  const { lease, attempt: number, scheduleBase } = delivery;
  const attempt = { number, at: delivery.takenAt, durationMs: 5, truncated: false };
  await pending.record({ id: delivery.id, lease, attempt, conclusion, scheduleBase, ifRestarted });
}

/** Records the outcomes in one statement: they gather while the first is being recorded. */
async function recordTogether(outcomes: [LeasedDelivery, Conclusion][]): Promise<void> {
  const [[delivery]] = outcomes as [[LeasedDelivery, Conclusion]];
  const gone = { ...delivery, id: `${id.slice(0, -12)}000000000000` };
  await Promise.all([record(gone, SUCCEEDED), ...outcomes.map((outcome) => record(...outcome))]);
}

async function row() {
  const [found] = await database.query<{ state: string; attempts: number; leased: boolean }>(
    `SELECT state, attempts, claimed_until IS NOT NULL AS leased FROM deliveries`,
  );
  return found;
}

const logged = async () => (await database.query('SELECT FROM attempts')).length;

/** Does the work while another transaction locks rows of a table. */
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

it('claims a delivery at once that did not get onto the queue', async () => {
  await enqueue();
  expect(await claim()).toEqual([]);
  await endQueueLease(JOB_LEASE + 1);
  expect(await claim()).toEqual([]);
  await endQueueLease(JOB_LEASE);
  expect(await claimedOne()).toMatchObject({ lease: JOB_LEASE + 1, attempt: 1 });
  // Of a job that was added nevertheless, nothing is sent.
  expect(await pending.load({ id, lease: JOB_LEASE })).toBeUndefined();
  expect(expired).toBe(0);
});

it('keeps the place in order of a delivery that did not get onto the queue', async () => {
  await database.query('UPDATE webhooks SET ordered = true');
  const placeOf = () => database.query('SELECT next_attempt_at FROM deliveries');
  const place = await placeOf();
  const lease = await sendNow(true);
  await endQueueLease(lease!);
  expect(await placeOf()).toEqual(place);
  const [row] = await database.query('SELECT claimed_until, immediate FROM deliveries');
  expect(row).toEqual({ claimed_until: null, immediate: true });
});

it('loads a delivery once for two jobs that name it', async () => {
  await enqueue();
  // The first statement is under way while the others gather.
  const jobs = [`${id.slice(0, -12)}000000000000`, id, id];
  const all = await Promise.all(jobs.map((one) => pending.load({ id: one, lease: JOB_LEASE })));
  expect(all.map((delivery) => delivery?.id)).toEqual([undefined, id, undefined]);
});

it('loads no delivery for the job of an earlier lease', async () => {
  const [first] = await leasedTwice();
  expect(await pending.load({ id, lease: first.lease })).toBeUndefined();
  expect(await row()).toEqual({ state: 'pending', attempts: 0, leased: true });
});

it('loads no delivery that was sent and waits for its next attempt', async () => {
  await record(await taken(), FAILED);
  expect(await pending.load({ id, lease: JOB_LEASE })).toBeUndefined();
  expect(await claim()).toEqual([]);
});

it('writes nothing to load a delivery', async () => {
  await enqueue();
  const version = () => database.query<object>('SELECT xmin, xmax, ctid FROM deliveries');
  const before = await version();
  await pending.load({ id, lease: JOB_LEASE });
  expect(await version()).toEqual(before);
});

it('expires a delivery whose event is gone, because it can never be sent', async () => {
  await enqueue();
  await database.query('TRUNCATE events');
  expect(await pending.load({ id, lease: JOB_LEASE })).toBeUndefined();
  expect(await database.query('SELECT state, reason, claimed_until FROM deliveries')).toEqual([
    { state: 'exhausted', reason: 'expired', claimed_until: null },
  ]);
});

it.each<[string, Conclusion, state: string]>([
  ['success', SUCCEEDED, 'succeeded'],
  ['failure', FAILED, 'pending'],
])(
  'counts the late failure of a worker that lost its lease, and leaves the delivery to the %s of the present one',
  async (_, conclusion, state) => {
    const [stopped, present] = await leasedTwice();
    await record(stopped, FAILED);
    expect(await row()).toEqual({ state: 'pending', attempts: 1, leased: true });
    await record(present, conclusion);
    expect(await row()).toEqual({ state, attempts: 1, leased: false });
    expect(await logged()).toBe(2);
  },
);

it('counts the late failure of a worker that lost its lease, also after the delivery was cancelled', async () => {
  const [stopped] = await leasedTwice();
  await database.query(`UPDATE deliveries SET state = 'cancelled', claimed_until = NULL`);
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'cancelled', attempts: 1, leased: false });
});

it('knows whether a subscription has ever succeeded', async () => {
  const other = await aSubscription(database, await anAccount(database));
  await database.query('INSERT INTO webhook_successes VALUES ($1, now())', [other]);
  expect(await pending.hasSucceeded(webhook)).toBe(false);
  expect(await pending.hasSucceeded(other)).toBe(true);
});

it('records which worker made an attempt', async () => {
  await record(await taken(), SUCCEEDED);
  expect(await database.query('SELECT worker FROM attempts')).toEqual([{ worker: PROCESS_ID }]);
});

it('never lets a late failure undo a success', async () => {
  const [stopped, present] = await leasedTwice();
  await record(present, SUCCEEDED);
  await record(stopped, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
});

it('accepts the late success of a worker that lost its lease', async () => {
  const [stopped, present] = await leasedTwice();
  await record(stopped, SUCCEEDED);
  const [ended] = await database.query(
    'SELECT reason, completed_at, next_attempt_at FROM deliveries',
  );
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: true });
  await record(present, FAILED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
  expect(
    await database.query('SELECT reason, completed_at, next_attempt_at FROM deliveries'),
  ).toEqual([{ ...(ended as object), next_attempt_at: null }]);
});

it('accepts a late success even after a newer failure', async () => {
  const [stopped, present] = await leasedTwice();
  await record(present, FAILED);
  await record(stopped, SUCCEEDED);
  expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
});

it.each([0, 1])(
  'judges two outcomes of one delivery separately when they are recorded together',
  async (first) => {
    const [stopped, present] = await leasedTwice();
    await recordTogether(
      [
        [stopped, first === 0 ? SUCCEEDED : FAILED] as [LeasedDelivery, Conclusion],
        [present, first === 0 ? FAILED : SUCCEEDED] as [LeasedDelivery, Conclusion],
      ].reverse(),
    );
    expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
    expect(await logged()).toBe(2);
  },
);

it('records the right outcome for each of many deliveries, in any order', async () => {
  for (let made = 1; made < 9; made += 1) await aPendingDelivery(database, webhook);
  await enqueue();
  const ids = (
    await database.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id DESC')
  ).map((found) => found.id);
  const all = await Promise.all(ids.map((one) => pending.load({ id: one, lease: JOB_LEASE })));
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

it('does not let a success of an earlier schedule end a redelivery', async () => {
  const delivery = await taken();
  await record(delivery, SUCCEEDED);
  await redeliver();
  await record(delivery, SUCCEEDED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, leased: false });
});

it('loads no delivery that its customer cancelled while its job was in the queue', async () => {
  await enqueue();
  expect(await database.run(CANCEL_REQUESTED, { id })).toHaveLength(1);
  expect(await pending.load({ id, lease: JOB_LEASE })).toBeUndefined();
  expect(await row()).toEqual({ state: 'cancelled', attempts: 0, leased: false });
});

it('refuses to redeliver a cancelled delivery while a worker still holds it', async () => {
  const delivery = await taken();
  await database.run(CANCEL_REQUESTED, { id });
  expect(await redeliver()).toEqual([]);
  await pending.release(delivery);
  expect(await row()).toEqual({ state: 'cancelled', attempts: 0, leased: false });
  expect(await redeliver()).toHaveLength(1);
});

it('leaves a delivery to its present worker when a worker that lost its lease releases it', async () => {
  const [stopped] = await leasedTwice();
  await pending.release(stopped);
  expect(await row()).toEqual({ state: 'pending', attempts: 0, leased: true });
});

it('retries a delivery that was cancelled and replayed during its last attempt', async () => {
  const delivery = await taken();
  // The change that a replay makes to a delivery that is still in flight.
  await database.query('UPDATE deliveries SET schedule_base = 2, attempts = 2');
  await record(
    { ...delivery, attempt: 3 },
    { state: 'exhausted', reason: 'no_attempts_left' },
    FAILED,
  );
  expect(await row()).toEqual({ state: 'pending', attempts: 3, leased: false });
});

describe('a delivery that its customer sends now', () => {
  it('is claimed whatever blocks its subscription, and keeps its schedule if that fails', async () => {
    await record(await taken(), FAILED);
    await database.query(`UPDATE webhooks SET ${BLOCKED}`);
    await sendNow();
    const [delivery] = await claim({ immediate: true });
    expect(delivery).toMatchObject({ attempt: 2, immediate: true, isExtra: true });
    await record(delivery!, RESUMES);
    expect(await schedule()).toEqual({ tries: 1, in_s: 60, immediate: false });
    await sendNow();
    const [again] = await claim({ immediate: true });
    expect(again).toMatchObject({ attempt: 3, extraAttempts: 1 });
    await record(again!, { ...RESUMES, delayMs: 120_000 });
    expect(await schedule()).toEqual({ tries: 1, in_s: 120, immediate: false });
    expect(await row()).toEqual({ state: 'pending', attempts: 3, leased: false });
  });

  it('goes onto the queue with a new lease, and loads for its job whatever blocks it', async () => {
    await record(await taken(), FAILED);
    await database.query(`UPDATE webhooks SET ${BLOCKED}`);
    const lease = await sendNow(true);
    expect(await pending.load({ id, lease: lease! })).toMatchObject({ id, isExtra: true });
    expect(await sendNow(true)).toBeUndefined();
  });

  it('keeps its lease and its job while it is on the queue', async () => {
    await enqueue();
    await database.query(`UPDATE webhooks SET ${BLOCKED}`);
    expect(await sendNow(true)).toBeUndefined();
    expect(await pending.load({ id, lease: JOB_LEASE })).toMatchObject({ id, immediate: true });
  });

  it('is left to the attempt in flight, which counts in the schedule', async () => {
    const delivery = await taken();
    expect(await sendNow(true)).toBeUndefined();
    expect(await claim({ immediate: true })).toEqual([]);
    await record(delivery, FAILED);
    expect(await schedule()).toEqual({ tries: 1, in_s: 60, immediate: false });
  });

  it('is claimed again when its worker is lost, and still keeps its schedule', async () => {
    await record(await taken(), FAILED);
    await sendNow();
    await claim({ immediate: true });
    await database.query(`UPDATE deliveries SET claimed_until = now(), next_attempt_at = now()`);
    const [delivery] = await claim({ immediate: true });
    await record(delivery!, RESUMES);
    expect(await schedule()).toEqual({ tries: 1, in_s: 60, immediate: false });
  });

  it('has no schedule to keep if it was cancelled and replayed during the attempt', async () => {
    await record(await taken(), FAILED);
    await sendNow();
    const [delivery] = await claim({ immediate: true });
    await database.query('UPDATE deliveries SET schedule_base = 1, resumes_at = NULL');
    await record(delivery!, RESUMES, { state: 'pending', delayMs: 30_000 });
    expect(await schedule()).toEqual({ tries: 1, in_s: 30, immediate: false });
  });

  it('credits the late success of an earlier worker', async () => {
    const stopped = await taken();
    await endLeases();
    await sendNow();
    const [present] = await claim({ immediate: true });
    await record(present!, RESUMES);
    await record(stopped, SUCCEEDED);
    expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
  });

  it('starts a whole schedule when it is redelivered later', async () => {
    await record(await taken(), FAILED);
    await sendNow();
    const [delivery] = await claim({ immediate: true });
    await record(delivery!, SUCCEEDED);
    await redeliver();
    expect(await claimedOne()).toMatchObject({ isExtra: false, extraAttempts: 0, attempt: 3 });
  });
});

it('records an outcome once even if it is reported twice', async () => {
  const delivery = await taken();
  await record(delivery, FAILED);
  await record(delivery, FAILED);
  expect(await row()).toEqual({ state: 'pending', attempts: 1, leased: false });
  expect(await logged()).toBe(1);
});

describe('due deliveries', () => {
  const due = async () => (await claim()).map((delivery) => delivery.id);
  const inWebhook = (what: string) => database.query(`UPDATE webhooks SET ${what}`);

  it('are claimed and loaded in one step, oldest first, and no more than requested', async () => {
    const ids = [id];
    for (let made = 0; made < 3; made += 1) ids.push(await aPendingDelivery(database, webhook));
    const claimed = await claim({ most: 3 });
    expect(claimed.map((delivery) => delivery.id)).toEqual(ids.slice(0, 3));
    expect(claimed).toMatchObject([{ attempt: 1, lease: 1 }, {}, {}]);
    expect(await due()).toEqual(ids.slice(3));
  });

  it('are neither leased nor waiting for a later attempt', async () => {
    await enqueue();
    expect(await due()).toEqual([]);
    await endLeases();
    expect(await due()).toEqual([id]);
    expect(expired).toBe(1);
    expect(await due()).toEqual([]);
  });

  it.each([
    ['paused', 'paused = true'],
    ['held', "hold_until = now() + interval '1 minute'"],
    ['behind an open circuit', "open_until = now() + interval '1 minute'"],
    ['behind a circuit that only a probe may pass', 'open_until = now()'],
  ])('are not claimed for a subscription that is %s', async (_, blocked) => {
    await inWebhook(blocked);
    expect(await due()).toEqual([]);
    await inWebhook('paused = false, hold_until = NULL, open_until = NULL');
    expect(await due()).toEqual([id]);
  });

  it.each([
    ['off', 'enabled = false, generation = generation + 1', 'disabled'],
    ['deleted', 'deleted_at = now(), generation = generation + 1', 'deleted'],
    ['off and on again', 'generation = generation + 1', 'disabled'],
  ])('are cancelled instead when their subscription is %s', async (_, change, reason) => {
    await inWebhook(change);
    expect(await claim()).toEqual([]);
    expect(await database.query('SELECT state, reason FROM deliveries')).toEqual([
      { state: 'cancelled', reason },
    ]);
  });

  it('go to one worker as a probe while no other probe is in flight', async () => {
    await aPendingDelivery(database, webhook);
    await inWebhook(`open_until = now(), failures = 10, failing_since = now()`);
    const [first, second] = await Promise.all([
      claim({ probe: true, most: 1 }),
      claim({ probe: true, most: 1 }),
    ]);
    const deliveries = [...first, ...second];
    expect(deliveries).toHaveLength(1);
    // The circuit is half-open, but no other probe may pass until this one's lease expires.
    expect(deliveries[0]?.subscription.health).toMatchObject({ failures: 10, openMs: 0 });
    expect(await claim({ probe: true, most: 1 })).toEqual([]);
  });

  it('are found by a look, which also tells when others are due', async () => {
    const look = () => database.run(LOOK(dayOf(id)), { after: '0', limit: 500 });
    expect(await look()).toMatchObject([{ webhookId: webhook, probe: false }]);
    expect((await look())[0]!.dueInMs).toBeLessThanOrEqual(0);
    await enqueue();
    expect((await look())[0]!.dueInMs).toBeGreaterThan(25_000);
    await inWebhook('paused = true');
    expect(await look()).toMatchObject([{ webhookId: webhook, accountId: null }]);
    await endLeases();
    await database.query('UPDATE deliveries SET immediate = true');
    expect(await look()).toMatchObject([
      { accountId: null },
      { webhookId: webhook, immediate: true },
    ]);
    expect(await claim({ immediate: true })).toHaveLength(1);
  });

  it('are found by successive looks, each at a limited number of subscriptions', async () => {
    const others = [webhook];
    for (let more = 0; more < 3; more += 1) {
      const other = await aSubscription(database, await anAccount(database));
      await aPendingDelivery(database, other);
      others.push(other);
    }
    const look = async (after: string) => {
      const rows = await database.run(LOOK(dayOf(id)), { after, limit: 3 });
      return rows.map(({ number, webhookId }) => [number, webhookId]);
    };
    expect(await look('0')).toEqual(others.slice(0, 3).map((other, at) => [at + 1, other]));
    expect(await look(others[2]!)).toEqual([[1, others[3]]]);
  });
});

it('keeps the order of a released delivery among due ones', async () => {
  const delivery = await taken();
  await pending.release(delivery);
  const [found] = await database.query<{ due_for: number }>(
    'SELECT extract(epoch FROM now() - next_attempt_at)::float8 AS due_for FROM deliveries',
  );
  expect(found?.due_for).toBeGreaterThanOrEqual(0);
  expect((await claimedOne()).lease).toBe(2);
});

it('postpones deliveries that are released with a delay, each by its own', async () => {
  const other = await aPendingDelivery(database, webhook);
  const both = await claim();
  expect(both.map((delivery) => delivery.id).toSorted()).toEqual([id, other].toSorted());
  await Promise.all(
    both.map((delivery) => pending.release(delivery, delivery.id === id ? 5_000 : 0)),
  );
  const rows = await database.query<{ id: string; in_s: number }>(
    `SELECT id, extract(epoch FROM next_attempt_at - now())::float8 AS in_s FROM deliveries
     WHERE claimed_until IS NULL AND state = 'pending'`,
  );
  const inS = new Map(rows.map((each) => [each.id, each.in_s]));
  expect(inS.get(other)).toBeLessThanOrEqual(0);
  expect(inS.get(id)).toBeLessThanOrEqual(5);
  expect(inS.get(id)).toBeGreaterThan(inS.get(other)! + 4);
  expect((await claim()).map((delivery) => delivery.id)).toEqual([other]);
});

describe('while PostgreSQL refuses the attempts of one delivery', () => {
  beforeEach(async () => {
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE 'refused'; END $$`,
    );
    await database.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON attempts FOR EACH ROW
       WHEN (NEW.delivery_id = '${id}') EXECUTE FUNCTION refuse()`,
    );
  });
  afterEach(() => database.query('DROP FUNCTION refuse CASCADE'));

  it('says so, and records all other outcomes', async () => {
    const other = await aPendingDelivery(database, webhook);
    const [refused, recorded] = await Promise.allSettled(
      (await claim())
        .toSorted((one) => (one.id === id ? -1 : 1))
        .map((delivery) => record(delivery, SUCCEEDED)),
    );
    expect(refused).toMatchObject({ reason: expect.any(RefusedOutcomeError) as Error });
    expect(recorded).toMatchObject({ status: 'fulfilled' });
    expect(await database.query(`SELECT id FROM deliveries WHERE state = 'succeeded'`)).toEqual([
      { id: other },
    ]);
  });
});

it("leases a claimed delivery long enough for the subscription's own timeout", async () => {
  await database.query(`UPDATE webhooks SET retry = '{"schedule": [], "timeoutMs": 20000}'`);
  const { subscription, leaseEnds } = await claimedOne();
  expect(subscription.retry).toEqual({ schedule: [], timeoutMs: 20_000 });
  const leftMs = leaseEnds - performance.now();
  expect(leftMs).toBeGreaterThan(33_000);
  expect(leftMs).toBeLessThanOrEqual(35_000);
});

describe('while another transaction locks one row', () => {
  const lockedRow = () => `deliveries WHERE id = '${id}'`;

  it('loads it for its job without waiting', async () => {
    await enqueue();
    await whileLocked(lockedRow(), async () => {
      expect((await pending.load({ id, lease: JOB_LEASE }))?.id).toBe(id);
    });
  });

  it('claims all others', async () => {
    const other = await aPendingDelivery(database, webhook);
    await whileLocked(lockedRow(), async () => {
      const deliveries = await claim();
      expect(deliveries.map((delivery) => delivery.id)).toEqual([other]);
    });
    expect((await claimedOne()).id).toBe(id);
  });

  it('records all other outcomes at once, and the locked one after the lock is released', async () => {
    const other = await aPendingDelivery(database, webhook);
    const deliveries = await claim();
    const [first, second] = deliveries as [LeasedDelivery, LeasedDelivery];
    let locked: Promise<void> | undefined;
    await whileLocked(lockedRow(), async () => {
      locked = record(first, SUCCEEDED);
      await record(second, SUCCEEDED);
      expect(await logged()).toBe(1);
      expect(
        await database.query('SELECT id FROM deliveries WHERE state = $1', ['succeeded']),
      ).toEqual([{ id: other }]);
    });
    await locked;
    expect(await logged()).toBe(2);
  });

  // PostgreSQL reports the error of a statement before it gives up the locks of that statement.
  it('releases all others at once, and the locked one after the lock is released', async () => {
    await aPendingDelivery(database, webhook);
    const [first, second] = (await claim()) as [LeasedDelivery, LeasedDelivery];
    let locked: Promise<void> | undefined;
    const leased = () =>
      database.query('SELECT id FROM deliveries WHERE claimed_until IS NOT NULL');
    await whileLocked(lockedRow(), async () => {
      locked = pending.release(first);
      await pending.release(second);
      expect(await leased()).toEqual([{ id: first.id }]);
    });
    await locked;
    expect(await leased()).toEqual([]);
  });

  it('does not wait for a locked subscription', async () => {
    await enqueue();
    await whileLocked('webhooks', async () => {
      const delivery = await pending.load({ id, lease: JOB_LEASE });
      await pending.release(delivery!);
      await record((await claim())[0]!, SUCCEEDED);
    });
    expect(await row()).toEqual({ state: 'succeeded', attempts: 1, leased: false });
  });
});

describe('the backlog flag', () => {
  const clear = () => database.run(CLEAR_BACKLOG, { webhookIds: [webhook] });

  it('is reported until it is cleared', async () => {
    await database.run(MARK_BACKLOG, { webhookIds: [webhook] });
    expect(await clear()).toEqual([{ id: webhook }]);
    expect(await clear()).toEqual([]);
  });

  it('is reported again if its subscription was locked', async () => {
    await database.run(MARK_BACKLOG, { webhookIds: [webhook] });
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('UPDATE webhooks SET version = version + 1 WHERE id = $1', [webhook]);
    expect(await clear()).toEqual([{ id: webhook }]);
    await holder.query('COMMIT');
    await holder.end();
    expect(await clear()).toEqual([{ id: webhook }]);
  });
});
