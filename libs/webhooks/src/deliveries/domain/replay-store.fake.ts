import { randomUUID } from 'node:crypto';
import { MAX_RUNNING, type Replay, type ReplayableState, type ReplayRange } from './replay.js';
import { ReplayStore } from './replay-store.js';

/** Replays in memory. */
export class FakeReplayStore extends ReplayStore {
  /** The finished deliveries. */
  readonly deliveries: { webhookId: string; state: ReplayableState; createdAt: Date }[] = [];
  /** The subscriptions that are off. */
  readonly off = new Set<string>();
  readonly all: (Replay & { accountId: string })[] = [];

  override count(
    _accountId: string,
    webhookId: string,
    { since, until = new Date(), states }: ReplayRange,
  ): Promise<number> {
    const found = this.deliveries.filter(
      (one) =>
        one.webhookId === webhookId &&
        states.includes(one.state) &&
        one.createdAt >= since &&
        one.createdAt <= until,
    );
    return Promise.resolve(found.length);
  }

  override async start(
    accountId: string,
    webhookId: string,
    range: ReplayRange,
  ): Promise<string | undefined> {
    const running = this.of(webhookId).filter(({ state }) => state === 'running');
    if (this.off.has(webhookId) || running.length >= MAX_RUNNING) return undefined;
    const total = await this.count(accountId, webhookId, range);
    const id = randomUUID();
    this.all.push({
      ...{ id, accountId, webhookId, until: new Date(), ...range },
      ...{ state: 'running', total, replayed: 0, createdAt: new Date() },
    });
    return id;
  }

  override msUntilFewer(
    webhookId: string,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const oldest = this.of(webhookId).at(-times);
    const agoMs = oldest ? Date.now() - oldest.createdAt.getTime() : Infinity;
    return Promise.resolve(agoMs < withinMs ? Math.max(withinMs - agoMs, 1) : 0);
  }

  override find(id: string, accountId: string): Promise<Replay | undefined> {
    return Promise.resolve(this.all.find((one) => one.id === id && one.accountId === accountId));
  }

  override cancel(id: string): Promise<boolean> {
    const replay = this.all.find((one) => one.id === id)!;
    if (replay.state !== 'running') return Promise.resolve(false);
    Object.assign(replay, { state: 'cancelled', completedAt: new Date() });
    return Promise.resolve(true);
  }

  private of(webhookId: string) {
    return this.all.filter((one) => one.webhookId === webhookId);
  }
}
