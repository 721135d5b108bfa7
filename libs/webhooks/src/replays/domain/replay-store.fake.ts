import { randomUUID } from 'node:crypto';
import {
  MAX_RUNNING,
  type Replay,
  type ReplayCount,
  type ReplayFilter,
  ReplayStore,
  type SendableState,
} from './replay.js';
import type { SendOutlook } from '../../subscriptions/domain/send-outlook.js';
import { hasResult } from '../../deliveries/domain/delivery-store.fake.js';

/** A delivery that a replay may select. */
export interface ReplayableDelivery {
  webhookId: string;
  state: SendableState;
  createdAt: Date;
  event?: string;
  applicationId?: string;
  /** The status of its last attempt. */
  status?: number;
}

/** Replays in memory. */
export class FakeReplayStore extends ReplayStore {
  readonly deliveries: ReplayableDelivery[] = [];
  readonly missed: Pick<ReplayableDelivery, 'webhookId' | 'createdAt'>[] = [];
  /** The accounts of subscriptions. */
  readonly owners = new Map<string, string>();
  /** The subscriptions that are off. */
  readonly off = new Set<string>();
  /** The subscriptions that are paused. */
  readonly paused = new Set<string>();
  /** The accounts of applications. */
  readonly applications = new Map<string, string>();
  readonly all: (Replay & { accountId: string })[] = [];

  override count(accountId: string, filter: ReplayFilter): Promise<ReplayCount> {
    const { since, until = new Date(), states, webhookId, event, applicationId, status } = filter;
    const isOwn = (one: Pick<ReplayableDelivery, 'webhookId' | 'createdAt'>) =>
      this.owners.get(one.webhookId) === accountId &&
      (webhookId ?? one.webhookId) === one.webhookId &&
      one.createdAt >= since &&
      one.createdAt <= until;
    if (filter.missed) {
      return Promise.resolve(this.countOf(this.missed.filter(isOwn)));
    }
    const found = this.deliveries.filter(
      (one) =>
        isOwn(one) &&
        states.includes(one.state) &&
        (event ?? one.event) === one.event &&
        (applicationId ?? one.applicationId) === one.applicationId &&
        (status === undefined || hasResult(one, status)),
    );
    return Promise.resolve(this.countOf(found));
  }

  private countOf(found: readonly Pick<ReplayableDelivery, 'webhookId'>[]): ReplayCount {
    const among = (ids: ReadonlySet<string>) =>
      found.filter(({ webhookId }) => ids.has(webhookId)).length;
    const [leftOut, paused] = [among(this.off), among(this.paused)];
    const deliveries = found.length - leftOut;
    return {
      ...{ deliveries, now: deliveries - paused, waiting: paused === 0 ? {} : { paused } },
      ...{ leftOut, leftOutFor: leftOut === 0 ? {} : { off: leftOut } },
    };
  }

  override async start(accountId: string, filter: ReplayFilter): Promise<string | undefined> {
    const { webhookId } = filter;
    const running = this.of({ accountId, webhookId }).filter(({ state }) => state === 'running');
    const isOff = webhookId !== undefined && this.off.has(webhookId);
    if (isOff || running.length >= MAX_RUNNING) return undefined;
    const { deliveries: total } = await this.count(accountId, filter);
    const id = randomUUID();
    this.all.push({
      ...{ id, accountId, until: new Date(), ...filter },
      ...{ total, replayed: 0, createdAt: new Date() },
      state: webhookId === undefined && total === 0 ? 'completed' : 'running',
    });
    return id;
  }

  override msUntilFewer(
    of: { accountId: string; webhookId: string | undefined },
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const oldest = this.of(of).at(-times);
    const agoMs = oldest ? Date.now() - oldest.createdAt.getTime() : Infinity;
    return Promise.resolve(agoMs < withinMs ? Math.max(withinMs - agoMs, 1) : 0);
  }

  override find(id: string, accountId: string): Promise<Replay | undefined> {
    return Promise.resolve(this.all.find((one) => one.id === id && one.accountId === accountId));
  }

  override outlook(_: string, { state, total, replayed }: Replay): Promise<SendOutlook> {
    return Promise.resolve({ now: state === 'running' ? total - replayed : 0, waiting: {} });
  }

  override cancel(id: string): Promise<boolean> {
    const replay = this.all.find((one) => one.id === id)!;
    if (replay.state !== 'running') return Promise.resolve(false);
    Object.assign(replay, { state: 'cancelled', completedAt: new Date() });
    return Promise.resolve(true);
  }

  override ownsApplication(accountId: string, applicationId: string): Promise<boolean> {
    return Promise.resolve(this.applications.get(applicationId) === accountId);
  }

  private of({ accountId, webhookId }: { accountId: string; webhookId: string | undefined }) {
    return this.all.filter((one) => one.accountId === accountId && one.webhookId === webhookId);
  }
}
