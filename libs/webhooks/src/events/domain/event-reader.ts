import type { Found, Page } from '#libs/kernel';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import type { EventFilter, EventHead, StoredEvent } from './event.js';

/** Reads accepted events. */
export abstract class EventReader {
  /**
   * @param accountId the owner; undefined for any account
   * @param options `lock`: locks the event until the transaction ends
   */
  abstract find(
    id: string,
    accountId: string | undefined,
    options?: { lock: boolean },
  ): Promise<StoredEvent | undefined>;

  /** Newest first. @param accountId the owner; undefined for any account */
  abstract list(
    accountId: string | undefined,
    filter: EventFilter,
    page: Page,
  ): Promise<Found<EventHead>>;

  /** The deliveries of an event, newest first. */
  abstract deliveriesOf(eventId: string, page: Page): Promise<Found<Delivery>>;

  /** Of these subscriptions, the ones that have a delivery of the event, with its id. */
  abstract told(eventId: string, webhookIds: readonly string[]): Promise<Map<string, string>>;
}
