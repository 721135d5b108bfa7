import type { Found, Page } from '#libs/kernel';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import type { EventFilter, EventHead, StoredEvent } from './event.js';

/** Reads accepted events. */
export abstract class EventReader {
  /** @param accountId the owner; undefined for any account */
  abstract find(id: string, accountId: string | undefined): Promise<StoredEvent | undefined>;

  /** Newest first. @param accountId the owner; undefined for any account */
  abstract list(
    accountId: string | undefined,
    filter: EventFilter,
    page: Page,
  ): Promise<Found<EventHead>>;

  /** The deliveries that were created with the event, oldest first. */
  abstract deliveriesOf(eventId: string): Promise<Delivery[]>;
}
