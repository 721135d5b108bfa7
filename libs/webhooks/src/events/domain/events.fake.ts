import { randomUUID } from 'node:crypto';
import { atOnce, type Found, type Page, type Scope } from '#libs/kernel';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import { FakeDeliveryStore } from '../../deliveries/domain/delivery-store.fake.js';
import {
  type Acceptance,
  type EventFilter,
  type EventHead,
  EventReader,
  EventStore,
  type ReportedEvent,
  type StoredEvent,
} from './event.js';
import { covers, isMissedBy } from '../../event-kinds/domain/matching.js';

/** Accepts events into memory. Each goes to all subscriptions of its account. */
export class FakeEventStore extends EventStore {
  /** The subscriptions of each account. */
  readonly accounts = new Map<string, string[]>();
  /** Oldest first. */
  readonly all: StoredEvent[] = [];
  readonly deliveries: Delivery[] = [];

  /** @param log gets the deliveries, too */
  constructor(private readonly log: FakeDeliveryStore) {
    super();
  }

  override accept(events: readonly ReportedEvent[]): Promise<Acceptance[]> {
    return Promise.resolve(events.map((event) => this.acceptOne(event)));
  }

  private acceptOne(reported: ReportedEvent): Acceptance {
    const { event, resource, data, accountId = '', producerId } = reported;
    const webhookIds = this.accounts.get(accountId);
    if (!webhookIds) return { accepted: false, refusal: 'unknown_account' };
    const first = this.all.find(
      (one) =>
        producerId !== undefined &&
        one.producerId === producerId &&
        one.accountId === accountId &&
        one.event === event,
    );
    const id = first?.id ?? randomUUID();
    if (!first) {
      const { occurredAt = new Date() } = reported;
      const key = producerId === undefined ? {} : { producerId };
      const times = { occurredAt, createdAt: new Date(), test: false };
      this.all.push({ id, accountId, event, resource, data, ...key, ...times, added: 0 });
      for (const webhookId of webhookIds) {
        this.log.subscriptions.set(webhookId, { accountId, enabled: true });
        this.deliveries.push(this.log.deliver(webhookId, { eventId: id }));
      }
    }
    const { length } = this.deliveries.filter(({ eventId }) => eventId === id);
    return { accepted: true, id, duplicate: first !== undefined, deliveries: length };
  }
}

/** Reads what a {@link FakeEventStore} has. */
export class FakeEventReader extends EventReader {
  constructor(private readonly store: FakeEventStore) {
    super();
  }

  override find(id: string, scope: Scope): Promise<StoredEvent | undefined> {
    return Promise.resolve(this.of(scope).find((event) => event.id === id));
  }

  override list(
    scope: Scope,
    filter: EventFilter,
    { after, limit }: Page,
  ): Promise<Found<EventHead>> {
    const { event, resource, applicationId, producerId, unmatched, since, until } = filter;
    const { contains = '', missedBy, resources } = filter;
    const newestFirst = this.of(scope).toReversed();
    const start = newestFirst.findIndex(({ id }) => id === after) + 1;
    const rows = newestFirst
      .slice(start)
      .filter(
        (one) =>
          (event === undefined || one.event === event) &&
          (resource === undefined || one.resource === resource) &&
          (resources === undefined || covers(resources, one.resource)) &&
          (applicationId === undefined || one.applicationId === applicationId) &&
          (producerId === undefined || one.producerId === producerId) &&
          (unmatched === undefined || this.isUnmatched(one) === unmatched) &&
          one.data.includes(contains) &&
          (!missedBy || (atOnce(isMissedBy(missedBy, one)) && !this.isTold(one, missedBy))) &&
          (since === undefined || one.createdAt >= since) &&
          (until === undefined || one.createdAt < until),
      );
    return Promise.resolve({ rows: rows.slice(0, limit) });
  }

  override deliveryIdsOf(
    eventId: string,
    webhookIds: readonly string[],
  ): Promise<Map<string, string>> {
    const told = this.toldOf(eventId).filter(({ webhookId }) => webhookIds.includes(webhookId));
    return Promise.resolve(new Map(told.map(({ id, webhookId }) => [webhookId, id])));
  }

  private toldOf(eventId: string): Delivery[] {
    return this.store.deliveries.filter((one) => one.eventId === eventId).toReversed();
  }

  private isTold({ id }: StoredEvent, webhook: { id: string }): boolean {
    return this.toldOf(id).some(({ webhookId }) => webhookId === webhook.id);
  }

  private isUnmatched({ id }: StoredEvent): boolean {
    return !this.store.deliveries.some(({ eventId }) => eventId === id);
  }

  private of(scope: Scope): StoredEvent[] {
    return this.store.all.filter(({ accountId }) => (scope ?? accountId) === accountId);
  }
}
