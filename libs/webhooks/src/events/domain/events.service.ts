import { Injectable } from '@nestjs/common';
import { type Found, isUuid, NotFoundError, type Page, type UnavailableError } from '#libs/kernel';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import type { Acceptance, EventFilter, EventHead, ReportedEvent, StoredEvent } from './event.js';
import { EventReader } from './event-reader.js';
import { EventStore } from './event-store.js';
import { isNoticeKind } from '../../subscriptions/domain/event-kinds.js';
import { type Unmatched, unmatchedReason } from './unmatched.js';
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

/** Accepts events of the platform and shows what happened to them. */
@Injectable()
export class EventsService {
  constructor(
    private readonly store: EventStore,
    private readonly reader: EventReader,
    private readonly webhooks: WebhooksService,
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
