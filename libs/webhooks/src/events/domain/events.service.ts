import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  DomainError,
  type Found,
  isUuid,
  NotFoundError,
  type Page,
  Transactions,
  type UnavailableError,
  ValidationError,
} from '#libs/kernel';
import { SubscriptionInactiveError } from '../../deliveries/domain/deliveries.service.js';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import { DeliveryStore } from '../../deliveries/domain/delivery-store.js';
import { Activity } from '../../subscriptions/domain/activity.js';
import type { Acceptance, EventFilter, EventHead, ReportedEvent, StoredEvent } from './event.js';
import { EventReader } from './event-reader.js';
import { EventStore } from './event-store.js';
import { isNoticeKind } from '../../subscriptions/domain/event-kinds.js';
import { type Mismatch, mismatchOf, type Unmatched, unmatchedReason } from './unmatched.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** An event with its deliveries, and the subscriptions that it did not match. */
export interface EventReport {
  event: StoredEvent;
  deliveries: Delivery[];
  /** Empty for a test, which is for only one subscription. */
  unmatched: Unmatched[];
}

/** What the data of a notice says about which subscription. */
interface NoticeData {
  webhookId: string;
}

const MISMATCHES: Record<Mismatch, string> = {
  created_much_later: 'it was created more than 30 days later',
  other_application: 'it is for the events of another application',
  other_event: 'it is for another kind of event',
  other_resource: 'it is for other resources',
  test: 'the event was a test',
};

/** The subscription is not for such an event. */
export class EventNotMatchingError extends DomainError {
  constructor(mismatch: Mismatch) {
    const message = `The webhook subscription does not match the event: ${MISMATCHES[mismatch]}.`;
    super('conflict', 'event_not_matching', message);
  }
}

/** The subscription was told of the event before. */
export class DeliveryExistsError extends DomainError {
  constructor(deliveryId: string) {
    const message =
      'The webhook subscription has a delivery of the event already, which can be redelivered: ' +
      `${deliveryId}.`;
    super('conflict', 'delivery_exists', message);
  }
}

/** Accepts events of the platform, shows what happened to them, and sends those that were missed. */
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
  accept(events: readonly ReportedEvent[]): Promise<(Acceptance | UnavailableError)[]> {
    return this.store.accept(events);
  }

  /** Newest first. @param accountId the owner; undefined for any account */
  list(accountId: string | undefined, filter: EventFilter, page: Page): Promise<Found<EventHead>> {
    return this.reader.list(accountId, filter, page);
  }

  /**
   * @param accountId the owner; undefined for any account
   * @throws NotFoundError
   */
  async show(id: string, accountId: string | undefined): Promise<EventReport> {
    const event = isUuid(id) ? await this.reader.find(id, accountId) : undefined;
    if (!event) throw new NotFoundError('event');
    const deliveries = await this.reader.deliveriesOf(id);
    const unmatched = event.test ? [] : await this.unmatched(event, deliveries);
    return { event, deliveries, unmatched };
  }

  /**
   * Sends an event to a subscription that was not told of it, because it was created later, or was off, say.
   * @returns the delivery's id
   * @throws NotFoundError, ValidationError for an unknown subscription, SubscriptionInactiveError,
   *   EventNotMatchingError, DeliveryExistsError
   */
  async deliver(accountId: string, id: string, webhookId: string): Promise<string> {
    const deliveryId = await this.transactions.run(async () => {
      await this.requireDeliverable(accountId, id, webhookId);
      const created = await this.deliveries.create(id, webhookId);
      if (created === undefined) {
        // Another request was faster.
        await this.requireDeliverable(accountId, id, webhookId);
        throw new Error('the delivery was not created');
      }
      await this.audit.record({ action: 'delivery.create', resourceId: created, accountId });
      return created;
    });
    this.activity.report(accountId, { kind: 'delivery', id: deliveryId });
    return deliveryId;
  }

  private async requireDeliverable(accountId: string, id: string, webhookId: string) {
    const event = isUuid(id) ? await this.reader.find(id, accountId) : undefined;
    if (!event) throw new NotFoundError('event');
    const webhook = await this.webhookOf(accountId, webhookId);
    if (!webhook.enabled) throw new SubscriptionInactiveError();
    const mismatch = mismatchOf(event, webhook);
    if (mismatch) throw new EventNotMatchingError(mismatch);
    const deliveries = await this.reader.deliveriesOf(id);
    const existing = deliveries.find((delivery) => delivery.webhookId === webhookId);
    if (existing) throw new DeliveryExistsError(existing.id);
  }

  private webhookOf(accountId: string, id: string): Promise<Webhook> {
    return this.webhooks.get(accountId, id).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
      const message = 'webhookId names no webhook subscription.';
      throw ValidationError.of('webhookId', 'unknown_reference', message);
    });
  }

  private async unmatched(
    event: StoredEvent,
    deliveries: readonly Delivery[],
  ): Promise<Unmatched[]> {
    const left = new Set(deliveries.map((delivery) => delivery.webhookId));
    // No subscription is told of itself.
    if (isNoticeKind(event.event)) left.add((JSON.parse(event.data) as NoticeData).webhookId);
    return (await this.webhooks.audienceOf(event))
      .filter((webhook) => !left.has(webhook.id))
      .map((webhook) => ({ webhookId: webhook.id, reason: unmatchedReason(event, webhook) }));
  }
}
