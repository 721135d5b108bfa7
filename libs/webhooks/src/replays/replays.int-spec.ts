import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NotFoundError, RateLimitedError, ValidationError } from '#libs/kernel';
import { contextOf } from '../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import {
  aPendingDelivery,
  aSubscription,
  anAccount,
  anApplication,
} from '../../../../test/support/rows.js';
import { SubscriptionInactiveError } from '../deliveries/domain/deliveries.service.js';
import {
  MAX_RUNNING,
  type ReplayCount,
  ReplayFinishedError,
  type ReplayFilter,
  ReplayLimitError,
  type SendableState,
  STARTED,
} from './domain/replay.js';
import { Replays } from './replays.js';
import { ReplaysModule } from './replays.module.js';

let database: TestDatabase;
let context: INestApplicationContext;
let replays: Replays;
let accountId: string;
let webhookId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [ReplaysModule]);
  replays = context.get(Replays);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});
beforeEach(async () => {
  accountId = await anAccount(database);
  webhookId = await aSubscription(database, accountId);
});

const range = (...states: SendableState[]) => ({ since: new Date(Date.now() - 60_000), states });
const start = (filter: Partial<ReplayFilter> = {}) =>
  replays.start(accountId, { webhookId, ...range('exhausted'), ...filter });
const startOfAll = (filter: Partial<ReplayFilter> = {}) =>
  replays.start(accountId, { ...range('exhausted'), ...filter }, true);
const stranger = async () => {
  const account = await anAccount(database);
  return { account, webhook: await aSubscription(database, account) };
};
const set = (webhook: string, values: string) =>
  database.query(`UPDATE webhooks SET ${values} WHERE id = $1`, [webhook]);
const switchOff = (webhook: string) => set(webhook, 'enabled = false, generation = generation + 1');

/** A count of deliveries that go now, that wait for the customer, and of subscriptions that are disabled. */
function counted({ now, paused = 0, off = 0 }: { now: number; paused?: number; off?: number }) {
  return {
    ...{ deliveries: now + paused, now, waiting: paused === 0 ? {} : { paused } },
    ...{ leftOut: off, leftOutFor: off === 0 ? {} : { off } },
  } satisfies ReplayCount;
}

interface GivenDelivery {
  applicationId?: string;
  /** The statuses of its attempts. */
  statuses?: number[];
  event?: string;
}

async function deliver(
  webhook: string,
  state: SendableState,
  { applicationId, statuses = [], event }: GivenDelivery = {},
): Promise<void> {
  const id = await aPendingDelivery(database, webhook);
  await database.query(
    `WITH made AS (
       INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status)
       SELECT $1, number, number, now(), 1, status
       FROM unnest($2::integer[]) WITH ORDINALITY AS s(status, number)
     ),
     d AS (
       UPDATE deliveries SET attempts = $3, event = coalesce($4, event), state = $5,
         next_attempt_at = CASE $5 WHEN 'pending' THEN next_attempt_at END,
         completed_at = CASE $5 WHEN 'pending' THEN NULL ELSE now() END
       WHERE id = $1 RETURNING event_id
     )
     UPDATE events SET application_id = $6 WHERE id = (SELECT event_id FROM d)`,
    [id, statuses, statuses.length, event ?? null, state, applicationId ?? null],
  );
  // A range ends with the last whole millisecond before the request.
  await sleep(2);
}

/** Stores an event that a subscription has missed. */
async function missedEvent(webhook: string): Promise<void> {
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(now(), 1), account_id, event, 'call', now(), now(), '{}'
     FROM webhooks WHERE id = $1`,
    [webhook],
  );
  await sleep(2);
}

const complete = (id: string) =>
  database.query(`UPDATE replays SET state = 'completed', completed_at = now() WHERE id = $1`, [
    id,
  ]);

/** What the audit of the account has of replays, oldest first. */
const recorded = () =>
  database.query<object>(
    `SELECT action, resource_id AS "resourceId" FROM audit
     WHERE account_id = $1 AND action LIKE 'replay.%' ORDER BY id`,
    [accountId],
  );
const started = () => database.query('SELECT FROM replays WHERE account_id = $1', [accountId]);

describe('a count', () => {
  const count = async (asked: Partial<ReplayFilter>) =>
    (await replays.count(accountId, { ...range('exhausted'), ...asked })).deliveries;

  it("is of a subscription's deliveries in the range and in the states", async () => {
    for (const state of ['exhausted', 'exhausted', 'succeeded'] as const) {
      await deliver(webhookId, state);
    }
    await deliver(await aSubscription(database, accountId), 'exhausted');
    const ofOne = (filter: ReplayFilter) => count({ webhookId, ...filter });
    expect(await ofOne(range('exhausted'))).toBe(2);
    expect(await ofOne(range('exhausted', 'succeeded'))).toBe(3);
    expect(await ofOne(range('cancelled'))).toBe(0);
    await deliver(webhookId, 'pending');
    expect(await ofOne(range('exhausted'))).toBe(2);
    expect(await ofOne(range('pending', 'exhausted'))).toBe(3);
    const before = new Date(Date.now() - 30_000);
    expect(await ofOne({ ...range('exhausted'), until: before })).toBe(0);
    expect(await ofOne({ since: new Date(Date.now() + 30_000), states: ['exhausted'] })).toBe(0);
  });

  it('is of all subscriptions of the account, and of disabled ones apart', async () => {
    const [other, off] = [
      await aSubscription(database, accountId),
      await aSubscription(database, accountId),
    ];
    for (const one of [webhookId, other, off, (await stranger()).webhook]) {
      await deliver(one, 'exhausted');
    }
    await switchOff(off);
    const ofAll = await replays.count(accountId, range('exhausted'));
    expect(ofAll).toEqual(counted({ now: 2, off: 1 }));
  });

  it('tells deliveries that go now from those that wait for their subscription', async () => {
    const paused = await aSubscription(database, accountId);
    for (const one of [webhookId, paused, paused]) await deliver(one, 'exhausted');
    await set(paused, 'paused = true');
    const all = range('exhausted');
    expect(await replays.count(accountId, all)).toEqual(counted({ now: 1, paused: 2 }));
    const ofPaused = await replays.count(accountId, { ...all, webhookId: paused });
    expect(ofPaused).toEqual(counted({ now: 0, paused: 2 }));
    const other = await stranger();
    await set(other.webhook, 'paused = true');
    await missedEvent(other.webhook);
    const filter = { webhookId: other.webhook, ...range(), missed: true } as const;
    expect(await replays.count(other.account, filter)).toEqual(counted({ now: 0, paused: 1 }));
  });

  it('is of what has the event, the application and the result of the last attempt', async () => {
    const applicationId = await anApplication(database, accountId);
    await deliver(webhookId, 'exhausted', { applicationId, statuses: [404, 503] });
    await deliver(webhookId, 'exhausted', { event: 'cdrRated', statuses: [503, 404] });
    await deliver(webhookId, 'exhausted');
    const ofEnded = (filter: Partial<ReplayFilter>) =>
      count({ ...range('exhausted', 'succeeded'), ...filter });
    expect(await ofEnded({})).toBe(3);
    expect(await ofEnded({ event: 'cdrRated' })).toBe(1);
    expect(await ofEnded({ applicationId })).toBe(1);
    expect(await ofEnded({ status: '503' })).toBe(1);
    expect(await ofEnded({ status: '4xx' })).toBe(1);
    expect(await ofEnded({ status: 'failed' })).toBe(2);
    expect(await ofEnded({ status: 'timeout' })).toBe(0);
    expect(await ofEnded({ applicationId, status: '4xx' })).toBe(0);
    expect(await ofEnded({ webhookId, applicationId, status: '5xx' })).toBe(1);
  });
});

describe('a new replay', () => {
  it('runs with what was counted, is recorded, and is found only for its account', async () => {
    await deliver(webhookId, 'exhausted', { statuses: [503] });
    const asked = range('exhausted');
    const applicationId = await anApplication(database, accountId);
    for (const [filter, total] of [
      [{ webhookId, ...asked }, 1],
      [asked, 1],
      [{ webhookId, ...asked, event: 'cdrCreated', status: '5xx' }, 1],
      [{ ...asked, applicationId }, 0],
    ] as const) {
      expect((await replays.count(accountId, filter)).deliveries).toBe(total);
      const id = await replays.start(accountId, filter);
      const replay = await replays.show(accountId, id);
      const rest = {
        id,
        total,
        until: expect.any(Date) as Date,
        createdAt: expect.any(Date) as Date,
      };
      const state = total === 0 ? 'completed' : 'running';
      expect(replay).toMatchObject({ ...filter, ...rest, state, replayed: 0 });
      const filters = ['webhookId', 'event', 'applicationId', 'status'] as const;
      expect(filters.filter((name) => replay[name] !== undefined)).toEqual(
        filters.filter((name) => name in filter),
      );
      expect((await recorded()).at(-1)).toEqual({ action: 'replay.create', resourceId: id });
      const { account } = await stranger();
      for (const [other, one] of [
        [account, id],
        [accountId, randomUUID()],
        [accountId, 'x'],
      ] as const) {
        await expect(replays.show(other, one)).rejects.toThrow(NotFoundError);
        await expect(replays.cancel(other, one)).rejects.toThrow(NotFoundError);
      }
      expect((await replays.show(accountId, id)).state).toBe(state);
    }
  });

  it('sends what a subscription has missed, but no delivery', async () => {
    await deliver(webhookId, 'exhausted');
    await missedEvent(webhookId);
    await missedEvent(webhookId);
    await missedEvent((await stranger()).webhook);
    const filter = { webhookId, ...range(), missed: true } as const;
    expect(await replays.count(accountId, filter)).toEqual(counted({ now: 2 }));
    const id = await replays.start(accountId, filter);
    expect(await replays.show(accountId, id)).toMatchObject({ states: [], missed: true, total: 2 });
    const until = { ...filter, until: new Date(Date.now() - 30_000) };
    expect(await replays.count(accountId, until)).toEqual(counted({ now: 0 }));
    expect(await replays.show(accountId, await start())).not.toHaveProperty('missed');
  });

  it("is neither counted nor started for another account's subscription", async () => {
    const filter = { webhookId: (await stranger()).webhook, ...range('exhausted') };
    await expect(replays.count(accountId, filter)).rejects.toThrow(NotFoundError);
    await expect(replays.start(accountId, filter)).rejects.toThrow(NotFoundError);
  });

  it('is neither counted nor started while the subscription is disabled', async () => {
    await switchOff(webhookId);
    const inactive = SubscriptionInactiveError;
    for (const filter of [range('exhausted'), { ...range('exhausted'), status: '5xx' }]) {
      await expect(replays.count(accountId, { webhookId, ...filter })).rejects.toThrow(inactive);
      await expect(start(filter)).rejects.toThrow(inactive);
      await expect(startOfAll({ webhookId, ...filter })).rejects.toThrow(inactive);
    }
    expect(await started()).toEqual([]);
  });

  it('reports every id of a subscription or application that is unknown, or that others own', async () => {
    const other = await stranger();
    const applicationId = await anApplication(database, other.account);
    const filter = { ...range('exhausted'), webhookId: other.webhook };
    for (const unknown of [applicationId, '799999999']) {
      for (const ask of [
        () => replays.count(accountId, { ...filter, applicationId: unknown }, true),
        () => replays.start(accountId, { ...filter, applicationId: unknown }, true),
      ]) {
        const error: unknown = await ask().catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(ValidationError);
        expect(
          (error as ValidationError).faults.map(({ field, code }) => `${field} ${code}`),
        ).toEqual(['webhookId unknown_reference', 'applicationId unknown_reference']);
      }
    }
    const own = { ...range('exhausted'), applicationId };
    expect((await replays.count(other.account, own, true)).deliveries).toBe(0);
    expect(await started()).toEqual([]);
  });
});

describe.each([
  { of: 'a subscription', one: start, other: startOfAll },
  { of: 'an account', one: startOfAll, other: start },
])('replays of $of', ({ one, other }) => {
  beforeEach(() => deliver(webhookId, 'exhausted'));

  /** Neither of the other kind, nor of other accounts. */
  async function areNotLimited(): Promise<void> {
    await other();
    const { account, webhook } = await stranger();
    await replays.start(account, { webhookId: webhook, ...range('exhausted') });
    await replays.start(account, range('exhausted'), true);
  }

  it('run in a limited number', async () => {
    const ids: string[] = [];
    for (let n = 0; n < MAX_RUNNING; n += 1) ids.push(await one());
    await expect(one()).rejects.toThrow(ReplayLimitError);
    expect(await recorded()).toHaveLength(MAX_RUNNING);
    await areNotLimited();
    await replays.cancel(accountId, ids[0]!);
    await one();
    await expect(one()).rejects.toThrow(ReplayLimitError);
  });

  it('start in a limited number within an hour, even if none runs', async () => {
    for (let n = 0; n < STARTED.times; n += 1) await replays.cancel(accountId, await one());
    const refused: unknown = await one().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitedError);
    const { retryAfterS } = refused as RateLimitedError;
    expect(retryAfterS).toBeGreaterThan(STARTED.withinMs / 1_000 - 60);
    expect(retryAfterS).toBeLessThanOrEqual(STARTED.withinMs / 1_000);
    await areNotLimited();
    // The oldest one no longer counts.
    await database.query(
      `UPDATE replays SET id = new_uuid(now() - interval '3601 s', 1)
       WHERE id = (SELECT id FROM replays WHERE account_id = $1 ORDER BY id LIMIT 1)`,
      [accountId],
    );
    await replays.cancel(accountId, await one());
    await expect(one()).rejects.toThrow(RateLimitedError);
  });
});

it('shows no deliveries as its own that an earlier replay of the same range has restarted', async () => {
  await deliver(webhookId, 'exhausted');
  await deliver(webhookId, 'exhausted');
  const [first, second] = [await start(), await start()];
  await database.query(
    `UPDATE deliveries SET state = 'pending', replayed = true, completed_at = NULL, next_attempt_at = now()
     WHERE webhook_id = $1`,
    [webhookId],
  );
  await database.query('UPDATE replays SET replayed = 2 WHERE id = $1', [first]);
  await database.query('UPDATE replay_parts SET remaining = 0 WHERE replay_id = $1', [first]);
  const progress = (id: string) => replays.showProgress(accountId, id);
  expect(await progress(first)).toMatchObject({ total: 2, replayed: 2, now: 2, waiting: {} });
  const behind = { total: 2, replayed: 0, now: 0, waiting: { schedule: 2 } };
  expect(await progress(second)).toMatchObject(behind);
});

describe('cancelling', () => {
  it('ends a running replay, and is recorded once', async () => {
    const id = await start();
    await replays.cancel(accountId, id);
    await replays.cancel(accountId, id);
    expect(await replays.show(accountId, id)).toMatchObject({ state: 'cancelled' });
    const entry = { action: 'replay.cancel', resourceId: id };
    expect((await recorded()).slice(1)).toEqual([entry]);
  });

  it('is refused for a completed replay', async () => {
    const id = await start();
    await complete(id);
    await expect(replays.cancel(accountId, id)).rejects.toThrow(ReplayFinishedError);
    expect(await replays.show(accountId, id)).toMatchObject({ state: 'completed' });
  });
});
