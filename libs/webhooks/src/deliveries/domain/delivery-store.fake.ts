import { randomUUID } from 'node:crypto';
import type { Found, Page, Scope } from '#libs/kernel';
import {
  type Attempt,
  type Delivery,
  type DeliveryFilter,
  DeliveryStore,
  type TestEvent,
  type WantedDeliveries,
} from './delivery.js';

/** A subscription as the log of deliveries knows it. */
interface FakeSubscription {
  accountId: string;
  enabled: boolean;
}

/** The log of deliveries in memory. */
export class FakeDeliveryStore extends DeliveryStore {
  readonly subscriptions = new Map<string, FakeSubscription>();
  readonly attempts = new Map<string, Attempt[]>();
  /** The data of events. */
  readonly data = new Map<string, string>();
  /** Oldest first. */
  private readonly all: Delivery[] = [];

  /** Adds a delivery. */
  deliver(webhookId: string, columns: Partial<Delivery> = {}): Delivery {
    const delivery: Delivery = {
      ...{ id: randomUUID(), eventId: randomUUID(), webhookId },
      ...{ event: 'cdrCreated', resource: 'call', targetUrl: 'http://127.0.0.1:1024/' },
      ...{ state: 'pending', attempts: 0, createdAt: new Date(), test: false },
      ...columns,
    };
    this.all.push(delivery);
    return delivery;
  }

  override list(
    scope: Scope,
    filter: DeliveryFilter,
    { after, limit }: Page,
  ): Promise<Found<Delivery>> {
    const { webhook, state, event, status, since, until } = filter;
    const { eventId, producerId, contains = '' } = filter;
    const newestFirst = this.all.toReversed();
    const start = newestFirst.findIndex((delivery) => delivery.id === after) + 1;
    const rows = newestFirst
      .slice(start)
      .filter(
        (delivery) =>
          (scope ?? this.accountOf(delivery)) === this.accountOf(delivery) &&
          (webhook === undefined || delivery.webhookId === webhook.id) &&
          (status === undefined || hasResult(this.attempts.get(delivery.id)?.at(-1), status)) &&
          (state === undefined || delivery.state === state) &&
          (event === undefined || delivery.event === event) &&
          (eventId === undefined || delivery.eventId === eventId) &&
          (producerId === undefined || delivery.producerId === producerId) &&
          (this.data.get(delivery.eventId) ?? '{}').includes(contains) &&
          (since === undefined || delivery.createdAt >= since) &&
          (until === undefined || delivery.createdAt < until),
      );
    return Promise.resolve({ rows: rows.slice(0, limit).map((one) => this.shown(one)) });
  }

  override findAll(scope: Scope, wanted: WantedDeliveries): Promise<Delivery[]> {
    const { ids = [], eventIds = [] } = wanted;
    const found = this.all.filter(
      (one) =>
        (ids.includes(one.id) || eventIds.includes(one.eventId)) &&
        (scope ?? this.accountOf(one)) === this.accountOf(one),
    );
    return Promise.resolve(found.map((one) => this.shown(one)));
  }

  private shown(delivery: Delivery): Delivery {
    const last = this.attempts.get(delivery.id)?.at(-1);
    if (!last) return delivery;
    const { at, durationMs, status, error } = last;
    const outcome = { ...(status !== undefined && { status }), ...(error && { error }) };
    return { ...delivery, lastAttempt: { at, durationMs, ...outcome } };
  }

  private accountOf({ webhookId }: Delivery): string | undefined {
    return this.subscriptions.get(webhookId)?.accountId;
  }

  override attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]> {
    const all = this.attempts.get(id) ?? [];
    return Promise.resolve(all.filter(({ number }) => number > after).slice(0, limit));
  }

  override create(eventId: string, webhookId: string): Promise<string | undefined> {
    const isCreated = this.all.some(
      (one) => one.eventId === eventId && one.webhookId === webhookId,
    );
    if (isCreated || !this.subscriptions.get(webhookId)?.enabled) return Promise.resolve(undefined);
    return Promise.resolve(this.deliver(webhookId, { eventId }).id);
  }

  override redeliver(id: string): Promise<boolean> {
    const delivery = this.all.find((one) => one.id === id)!;
    const isFinished = !['pending', 'parked'].includes(delivery.state);
    if (!isFinished || !this.subscriptions.get(delivery.webhookId)?.enabled) {
      return Promise.resolve(false);
    }
    delivery.state = 'pending';
    delete delivery.reason;
    return Promise.resolve(true);
  }

  override sendNow(id: string): Promise<boolean> {
    const delivery = this.all.find((one) => one.id === id)!;
    const isWaiting = ['pending', 'parked'].includes(delivery.state);
    if (!isWaiting || !this.subscriptions.get(delivery.webhookId)?.enabled) {
      return Promise.resolve(false);
    }
    Object.assign(delivery, { state: 'pending', nextAttemptAt: new Date() });
    return Promise.resolve(true);
  }

  override cancel(id: string): Promise<boolean> {
    const delivery = this.all.find((one) => one.id === id)!;
    if (delivery.state !== 'pending') return Promise.resolve(false);
    Object.assign(delivery, { state: 'cancelled', reason: 'requested', completedAt: new Date() });
    return Promise.resolve(true);
  }

  override createTest({ webhookId, resource }: TestEvent): Promise<string | undefined> {
    if (!this.subscriptions.get(webhookId)?.enabled) return Promise.resolve(undefined);
    const test = { resource: resource as Delivery['resource'], test: true };
    return Promise.resolve(this.deliver(webhookId, test).id);
  }
}

/** Whether the last attempt had this result. */
function hasResult({ status, error }: Partial<Attempt> = {}, asked: string): boolean {
  if (status === undefined) return asked === error || (error !== undefined && asked === 'failed');
  const isFailure = status < 200 || status > 299;
  return (
    [String(status), `${String(status)[0]}xx`].includes(asked) || (isFailure && asked === 'failed')
  );
}
