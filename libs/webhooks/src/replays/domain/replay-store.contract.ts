import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  MAX_RUNNING,
  type ReplayCount,
  type ReplayFilter,
  type ReplayStore,
  type SendableState,
} from './replay.js';

/** What is stored of a delivery, besides its state. */
export interface GivenDelivery {
  applicationId?: string;
  /** The statuses of its attempts. */
  statuses?: number[];
  event?: string;
}

/** Replays under test. */
export interface ReplaysUnderTest {
  store: () => ReplayStore;
  /** A subscription, by default of a new account. */
  aSubscription: (ofAccount?: string) => Promise<{ accountId: string; webhookId: string }>;
  anApplication: (accountId: string) => Promise<string>;
  switchOff: (webhookId: string) => Promise<void>;
  pause: (webhookId: string) => Promise<void>;
  /** Stores a delivery. */
  deliver: (webhookId: string, state: SendableState, given?: GivenDelivery) => Promise<void>;
  /** Stores an event that a subscription has missed. */
  missedEvent: (webhookId: string) => Promise<void>;
  complete: (replayId: string) => Promise<void>;
}

/** A count of deliveries that go now, that wait for the customer, and of subscriptions that are off. */
function counted({ now, paused = 0, off = 0 }: { now: number; paused?: number; off?: number }) {
  return {
    ...{ deliveries: now + paused, now, waiting: paused === 0 ? {} : { paused } },
    ...{ leftOut: off, leftOutFor: off === 0 ? {} : { off } },
  } satisfies ReplayCount;
}

/** What every implementation of {@link ReplayStore} must do. */
export function replayStoreContract(underTest: ReplaysUnderTest): void {
  const { store, aSubscription, anApplication, switchOff, deliver, complete } = underTest;
  const { missedEvent, pause } = underTest;
  const range = (...states: SendableState[]) => ({
    since: new Date(Date.now() - 60_000),
    states,
  });

  it("counts a subscription's deliveries in the range and in the states", async () => {
    const { accountId, webhookId } = await aSubscription();
    for (const state of ['exhausted', 'exhausted', 'succeeded'] as const) {
      await deliver(webhookId, state);
    }
    await deliver((await aSubscription(accountId)).webhookId, 'exhausted');
    const count = async (asked: ReplayFilter) =>
      (await store().count(accountId, { webhookId, ...asked })).deliveries;
    expect(await count(range('exhausted'))).toBe(2);
    expect(await count(range('exhausted', 'succeeded'))).toBe(3);
    expect(await count(range('cancelled'))).toBe(0);
    await deliver(webhookId, 'pending');
    expect(await count(range('exhausted'))).toBe(2);
    expect(await count(range('pending', 'exhausted'))).toBe(3);
    const before = new Date(Date.now() - 30_000);
    expect(await count({ ...range('exhausted'), until: before })).toBe(0);
    expect(await count({ since: new Date(Date.now() + 30_000), states: ['exhausted'] })).toBe(0);
  });

  it('counts the deliveries of all subscriptions of the account, and those that are off apart', async () => {
    const { accountId, webhookId } = await aSubscription();
    const [other, off] = [await aSubscription(accountId), await aSubscription(accountId)];
    const stranger = await aSubscription();
    for (const one of [webhookId, other.webhookId, off.webhookId, stranger.webhookId]) {
      await deliver(one, 'exhausted');
    }
    await switchOff(off.webhookId);
    const ofAll = await store().count(accountId, range('exhausted'));
    expect(ofAll).toEqual(counted({ now: 2, off: 1 }));
    const theirs = { ...range('exhausted'), webhookId: stranger.webhookId };
    expect(await store().count(accountId, theirs)).toEqual(counted({ now: 0 }));
  });

  it('counts deliveries that go now apart from those that wait for their subscription', async () => {
    const { accountId, webhookId } = await aSubscription();
    const paused = await aSubscription(accountId);
    for (const one of [webhookId, paused.webhookId, paused.webhookId]) {
      await deliver(one, 'exhausted');
    }
    await pause(paused.webhookId);
    const count = async (filter: Partial<ReplayFilter> = {}) =>
      store().count(accountId, { ...range('exhausted'), ...filter });
    expect(await count()).toEqual(counted({ now: 1, paused: 2 }));
    expect(await count({ webhookId: paused.webhookId })).toEqual(counted({ now: 0, paused: 2 }));
    const other = await aSubscription();
    await pause(other.webhookId);
    await missedEvent(other.webhookId);
    const filter = { webhookId: other.webhookId, ...range(), missed: true } as const;
    expect(await store().count(other.accountId, filter)).toEqual(counted({ now: 0, paused: 1 }));
  });

  it('counts what has the event, the application and the result of the last attempt', async () => {
    const { accountId, webhookId } = await aSubscription();
    const applicationId = await anApplication(accountId);
    await deliver(webhookId, 'exhausted', { applicationId, statuses: [404, 503] });
    await deliver(webhookId, 'exhausted', { event: 'cdrRated', statuses: [503, 404] });
    await deliver(webhookId, 'exhausted');
    const count = async (asked: Partial<ReplayFilter>) =>
      (await store().count(accountId, { ...range('exhausted', 'succeeded'), ...asked })).deliveries;
    expect(await count({})).toBe(3);
    expect(await count({ event: 'cdrRated' })).toBe(1);
    expect(await count({ applicationId })).toBe(1);
    expect(await count({ status: '503' })).toBe(1);
    expect(await count({ status: '4xx' })).toBe(1);
    expect(await count({ status: 'failed' })).toBe(2);
    expect(await count({ status: 'timeout' })).toBe(0);
    expect(await count({ applicationId, status: '4xx' })).toBe(0);
    expect(await count({ webhookId, applicationId, status: '5xx' })).toBe(1);
  });

  it('starts a replay of what it counts, and finds it only for its account', async () => {
    const { accountId, webhookId } = await aSubscription();
    await deliver(webhookId, 'exhausted', { statuses: [503] });
    const asked = range('exhausted');
    const applicationId = await anApplication(accountId);
    for (const [filter, total] of [
      [{ webhookId, ...asked }, 1],
      [asked, 1],
      [{ webhookId, ...asked, event: 'cdrCreated', status: '5xx' }, 1],
      [{ ...asked, applicationId }, 0],
    ] as const) {
      const id = (await store().start(accountId, filter))!;
      const replay = await store().find(id, accountId);
      const rest = {
        id,
        total,
        until: expect.any(Date) as Date,
        createdAt: expect.any(Date) as Date,
      };
      const state = total === 0 ? 'completed' : 'running';
      expect(replay).toMatchObject({ ...filter, ...rest, state, replayed: 0 });
      const filters = ['webhookId', 'event', 'applicationId', 'status'] as const;
      expect(filters.filter((name) => replay![name] !== undefined)).toEqual(
        filters.filter((name) => name in filter),
      );
      expect(await store().find(id, (await aSubscription()).accountId)).toBeUndefined();
    }
    expect(await store().find(randomUUID(), accountId)).toBeUndefined();
  });

  it('counts and starts what a subscription has missed, but no delivery', async () => {
    const { accountId, webhookId } = await aSubscription();
    await deliver(webhookId, 'exhausted');
    await missedEvent(webhookId);
    await missedEvent(webhookId);
    await missedEvent((await aSubscription()).webhookId);
    const filter = { webhookId, ...range(), missed: true } as const;
    expect(await store().count(accountId, filter)).toEqual(counted({ now: 2 }));
    const id = (await store().start(accountId, filter))!;
    expect(await store().find(id, accountId)).toMatchObject({ states: [], missed: true, total: 2 });
    const before = new Date(Date.now() - 30_000);
    const until = { ...filter, until: before };
    expect(await store().count(accountId, until)).toEqual(counted({ now: 0 }));
    const other = (await store().start(accountId, { webhookId, ...range('exhausted') }))!;
    expect(await store().find(other, accountId)).not.toHaveProperty('missed');
  });

  it('starts none for a subscription that is off', async () => {
    const { accountId, webhookId } = await aSubscription();
    await switchOff(webhookId);
    for (const filter of [range('exhausted'), { ...range('exhausted'), status: '5xx' }]) {
      expect(await store().start(accountId, { webhookId, ...filter })).toBeUndefined();
    }
  });

  it.each(['subscription', 'account'])(
    'runs a limited number for each %s, and tells how long too many were started',
    async (of) => {
      const { accountId, webhookId } = await aSubscription();
      await deliver(webhookId, 'exhausted');
      const filter = { ...range('exhausted'), ...(of === 'subscription' && { webhookId }) };
      const start = () => store().start(accountId, filter);
      const started: string[] = [];
      for (let n = 0; n < MAX_RUNNING; n += 1) started.push((await start())!);
      expect(await start()).toBeUndefined();
      await store().cancel(started[0]!);
      expect(await start()).toEqual(expect.any(String));
      const limited = { accountId, webhookId: of === 'subscription' ? webhookId : undefined };
      const wait = (times: number) => store().msUntilFewer(limited, { times, withinMs: 60_000 });
      expect(await wait(MAX_RUNNING + 2)).toBe(0);
      expect(await wait(MAX_RUNNING + 1)).toBeGreaterThan(30_000);
      expect(await wait(MAX_RUNNING + 1)).toBeLessThanOrEqual(60_000);
      // One kind does not count for the other, nor for other accounts.
      const another = of === 'subscription' ? undefined : webhookId;
      const unlimited = [
        { ...limited, webhookId: another },
        { accountId: (await aSubscription()).accountId, webhookId: undefined },
      ];
      for (const one of unlimited) {
        expect(await store().msUntilFewer(one, { times: 1, withinMs: 60_000 })).toBe(0);
      }
    },
  );

  it('cancels only a running replay', async () => {
    const { accountId, webhookId } = await aSubscription();
    const asked = { webhookId, ...range('exhausted') };
    const start = async () => (await store().start(accountId, asked))!;
    const [cancelled, completed] = [await start(), await start()];
    expect(await store().cancel(cancelled)).toBe(true);
    expect(await store().find(cancelled, accountId)).toMatchObject({ state: 'cancelled' });
    expect(await store().cancel(cancelled)).toBe(false);
    await complete(completed);
    expect(await store().cancel(completed)).toBe(false);
    expect(await store().find(completed, accountId)).toMatchObject({ state: 'completed' });
  });

  it('knows the applications of an account', async () => {
    const { accountId } = await aSubscription();
    const applicationId = await anApplication(accountId);
    const stranger = (await aSubscription()).accountId;
    expect(await store().ownsApplication(accountId, applicationId)).toBe(true);
    expect(await store().ownsApplication(stranger, applicationId)).toBe(false);
    expect(await store().ownsApplication(accountId, '799999999')).toBe(false);
  });
}
