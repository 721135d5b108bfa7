import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_RUNNING, type ReplayableState } from './replay.js';
import type { ReplayStore } from './replay-store.js';

/** Replays under test. */
export interface ReplaysUnderTest {
  store: () => ReplayStore;
  /** A new account with a subscription. */
  aSubscription: () => Promise<{ accountId: string; webhookId: string }>;
  switchOff: (webhookId: string) => Promise<void>;
  /** Stores a delivery. */
  finished: (webhookId: string, state: ReplayableState) => Promise<void>;
  complete: (replayId: string) => Promise<void>;
}

/** What every implementation of {@link ReplayStore} must do. */
export function replayStoreContract(underTest: ReplaysUnderTest): void {
  const { store, aSubscription, switchOff, finished, complete } = underTest;
  const range = (...states: ReplayableState[]) => ({
    since: new Date(Date.now() - 60_000),
    states,
  });

  it("counts a subscription's deliveries in the range and in the states", async () => {
    const { accountId, webhookId } = await aSubscription();
    for (const state of ['exhausted', 'exhausted', 'succeeded'] as const) {
      await finished(webhookId, state);
    }
    await finished((await aSubscription()).webhookId, 'exhausted');
    const count = (asked: Parameters<ReplayStore['count']>[2]) =>
      store().count(accountId, webhookId, asked);
    expect(await count(range('exhausted'))).toBe(2);
    expect(await count(range('exhausted', 'succeeded'))).toBe(3);
    expect(await count(range('cancelled'))).toBe(0);
    const before = new Date(Date.now() - 30_000);
    expect(await count({ ...range('exhausted'), until: before })).toBe(0);
    expect(await count({ since: new Date(Date.now() + 30_000), states: ['exhausted'] })).toBe(0);
  });

  it('starts a replay of what it counts, and finds it only for its account', async () => {
    const { accountId, webhookId } = await aSubscription();
    await finished(webhookId, 'exhausted');
    const asked = range('exhausted');
    const id = (await store().start(accountId, webhookId, asked))!;
    const replay = { id, webhookId, ...asked, state: 'running', total: 1, replayed: 0 };
    expect(await store().find(id, accountId)).toMatchObject(replay);
    expect(await store().find(id, (await aSubscription()).accountId)).toBeUndefined();
    expect(await store().find(randomUUID(), accountId)).toBeUndefined();
  });

  it('starts none for a subscription that is off', async () => {
    const { accountId, webhookId } = await aSubscription();
    await switchOff(webhookId);
    expect(await store().start(accountId, webhookId, range('exhausted'))).toBeUndefined();
  });

  it('runs a limited number for each subscription, and tells how long too many were started', async () => {
    const { accountId, webhookId } = await aSubscription();
    const start = () => store().start(accountId, webhookId, range('exhausted'));
    const started: string[] = [];
    for (let n = 0; n < MAX_RUNNING; n += 1) started.push((await start())!);
    expect(await start()).toBeUndefined();
    await store().cancel(started[0]!);
    expect(await start()).toEqual(expect.any(String));
    const wait = (times: number) => store().msUntilFewer(webhookId, { times, withinMs: 60_000 });
    expect(await wait(MAX_RUNNING + 2)).toBe(0);
    expect(await wait(MAX_RUNNING + 1)).toBeGreaterThan(30_000);
    expect(await wait(MAX_RUNNING + 1)).toBeLessThanOrEqual(60_000);
  });

  it('cancels only a running replay', async () => {
    const { accountId, webhookId } = await aSubscription();
    const start = async () => (await store().start(accountId, webhookId, range('exhausted')))!;
    const [cancelled, completed] = [await start(), await start()];
    expect(await store().cancel(cancelled)).toBe(true);
    expect(await store().find(cancelled, accountId)).toMatchObject({ state: 'cancelled' });
    expect(await store().cancel(cancelled)).toBe(false);
    await complete(completed);
    expect(await store().cancel(completed)).toBe(false);
    expect(await store().find(completed, accountId)).toMatchObject({ state: 'completed' });
  });
}
