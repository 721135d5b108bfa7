import type { Found, Page, UnavailableError } from '#libs/kernel';
import type { Delivery } from './delivery.js';
import type { Acceptance, EventFilter, EventHead, ReportedEvent, StoredEvent } from './event.js';

/** Where events are kept. */
export abstract class EventStore {
  /**
   * Stores events and one delivery for each matching subscription, durably, in statements that
   * concurrent callers share; results in the order of the events. The result of an event is an error
   * when it may not be stored though others are, or when it was reported before and it is not known
   * what that report was answered with.
   * @throws UnavailableError when it is not known that anything was stored
   */
  abstract accept(events: readonly ReportedEvent[]): Promise<(Acceptance | UnavailableError)[]>;

  /** @param accountId the owner; undefined: whoever owns it */
  abstract find(id: string, accountId: string | undefined): Promise<StoredEvent | undefined>;

  /** Newest first. @param accountId the owner; undefined: whoever owns them */
  abstract list(
    accountId: string | undefined,
    filter: EventFilter,
    page: Page,
  ): Promise<Found<EventHead>>;

  /** The deliveries that were made when the event was accepted, oldest first. */
  abstract deliveriesOf(eventId: string): Promise<Delivery[]>;
}
