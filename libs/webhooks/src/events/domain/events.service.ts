import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  DomainError,
  type Found,
  inSlices,
  isUuid,
  NotFoundError,
  type Page,
  type Scope,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import {
  EventErasedError,
  SubscriptionInactiveError,
} from '../../deliveries/domain/deliveries.service.js';
import { type Delivery, DeliveryStore, MAX_ADDED } from '../../deliveries/domain/delivery.js';
import { Activity } from '../../activity/domain/activity.js';
import {
  type Acceptance,
  type EventFilter,
  type EventHead,
  EventReader,
  EventStore,
  type ReportedEvent,
  type StoredEvent,
  type Unstored,
} from './event.js';
import {
  isToldOf,
  MAX_DAYS_BEFORE,
  type Mismatch,
  mismatchOf,
  type UnmatchedReason,
  unmatchedReasons,
} from '../../event-kinds/domain/matching.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** A subscription without a delivery of an event. */
interface Unmatched {
  webhookId: string;
  reason: UnmatchedReason;
}

/** An event, and the subscriptions that it did not match. */
export interface EventReport {
  event: StoredEvent;
  /** Reads a page of its deliveries, newest first. */
  deliveries: (page: Page) => Promise<Found<Delivery>>;
  /** Empty for a test, which is for only one subscription. */
  unmatched: Unmatched[];
}

/** Filters of a list of events, with a subscription as its id. */
export type EventQuery = Omit<EventFilter, 'missedBy'> & { missedBy?: string };

const MISMATCHES: Record<Mismatch, string> = {
  created_much_later: `it was created more than ${MAX_DAYS_BEFORE} days later`,
  other_application: 'it is for the events of another application',
  other_event: 'it is for another kind of event',
  other_resource: 'it is for other resources',
  filter: 'its filter excludes the event',
  test: 'the event was a test',
};

/** The subscription is not for such an event. */
export class EventNotMatchingError extends DomainError {
  constructor(mismatch: Mismatch) {
    const message = `The webhook subscription does not match the event: ${MISMATCHES[mismatch]}.`;
    super('conflict', 'event_not_matching', message);
  }
}

/** The subscription already has a delivery of the event. */
export class DeliveryExistsError extends DomainError {
  constructor(deliveryId: string) {
    const message =
      'The webhook subscription already has a delivery of the event, which can be redelivered: ' +
      `${deliveryId}.`;
    super('conflict', 'delivery_exists', message);
  }
}

/** The event has reached its limit of added deliveries. */
export class DeliveryLimitReachedError extends DomainError {
  constructor() {
    const message = `An event can be sent to at most ${MAX_ADDED} webhook subscriptions that it had not matched.`;
    super('conflict', 'delivery_limit_reached', message);
  }
}

/** Accepts and shows events of the platform, and sends missed ones. */
@Injectable()
export class EventsService {
  constructor(
    private readonly store: EventStore,
    private readonly reader: EventReader,
    private readonly webhooks: WebhooksService,
    private readonly deliveries: DeliveryStore,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly activity: Activity,
  ) {}

  /** Once this resolves, an accepted event cannot be lost. For results, see {@link EventStore.accept}. */
  accept(events: readonly ReportedEvent[]): Promise<(Acceptance | Unstored)[]> {
    return this.store.accept(events);
  }

  /** Newest first. */
  async list(
    scope: Scope,
    { missedBy, ...filter }: EventQuery,
    page: Page,
  ): Promise<Found<EventHead>> {
    if (missedBy === undefined) return this.reader.list(scope, filter, page);
    const webhook = await this.webhooks.lookUp(scope, missedBy);
    if (!webhook) return { rows: [] };
    return this.reader.list(webhook.accountId, { ...filter, missedBy: webhook }, page);
  }

  /** @throws NotFoundError */
  async show(id: string, scope: Scope): Promise<EventReport> {
    const event = await this.get(id, scope);
    return {
      event,
      deliveries: (page) => this.deliveries.list(scope, { eventId: id }, page),
      unmatched: event.test ? [] : await this.unmatched(event),
    };
  }

  /**
   * Returns a function that reads pages of an event's deliveries, newest first.
   * @throws NotFoundError
   */
  async deliveriesOf(id: string, scope: Scope): Promise<(page: Page) => Promise<Found<Delivery>>> {
    await this.get(id, scope);
    return (page) => this.deliveries.list(scope, { eventId: id }, page);
  }

  /**
   * Sends an event to a subscription that has no delivery of it, for example because it was created later.
   * @returns the delivery's id
   * @throws NotFoundError, ValidationError for an unknown subscription, SubscriptionInactiveError,
   *   EventErasedError, EventNotMatchingError, DeliveryExistsError, DeliveryLimitReachedError
   */
  async deliver(accountId: string, id: string, webhookId: string): Promise<string> {
    const deliveryId = await this.transactions.run(async () => {
      await this.requireDeliverable(accountId, id, webhookId);
      const created = await this.deliveries.create(id, webhookId);
      // The event is locked, but its subscription was disabled or deleted meanwhile.
      if (created === undefined) throw new SubscriptionInactiveError();
      await this.audit.record({ action: 'delivery.create', resourceId: created, accountId });
      return created;
    });
    this.activity.report(accountId, { kind: 'delivery', id: deliveryId });
    return deliveryId;
  }

  private async requireDeliverable(accountId: string, id: string, webhookId: string) {
    const event = await this.get(id, accountId, { lock: true });
    if (event.erasedAt) throw new EventErasedError();
    const webhook = await this.webhooks.lookUp(accountId, webhookId);
    if (!webhook) {
      const message = 'webhookId names no webhook subscription.';
      throw ValidationError.of('webhookId', 'unknown_reference', message);
    }
    if (!webhook.enabled) throw new SubscriptionInactiveError();
    const mismatch = await inSlices(accountId, mismatchOf(event, webhook));
    if (mismatch) throw new EventNotMatchingError(mismatch);
    const existing = (await this.reader.deliveryIdsOf(id, [webhookId])).get(webhookId);
    if (existing !== undefined) throw new DeliveryExistsError(existing);
    if (event.added >= MAX_ADDED) throw new DeliveryLimitReachedError();
  }

  private async get(id: string, scope: Scope, options?: { lock: boolean }): Promise<StoredEvent> {
    const event = isUuid(id) ? await this.reader.find(id, scope, options) : undefined;
    if (!event) throw new NotFoundError('event');
    return event;
  }

  private async unmatched(event: StoredEvent): Promise<Unmatched[]> {
    const audience = await this.webhooks.audienceOf(event);
    const told = await this.reader.deliveryIdsOf(
      event.id,
      audience.map(({ id }) => id),
    );
    const untold = audience.filter((one) => !told.has(one.id) && isToldOf(event, one));
    const reasons = await inSlices(event.accountId, unmatchedReasons(event, untold));
    return untold.map(({ id }, index) => ({ webhookId: id, reason: reasons[index]! }));
  }
}
