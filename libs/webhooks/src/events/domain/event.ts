import type { Found, InternalError, Page, Scope, UnavailableError } from '#libs/kernel';
import type {
  EventKind,
  EventResource,
  ReportedKind,
  Resource,
} from '../../event-kinds/domain/event-kinds.js';
import type { MissingSubscription } from '../../event-kinds/domain/matching.js';

/** An event as its producer reports it. `data` is JSON text, byte for byte as sent. */
export interface ReportedEvent {
  event: ReportedKind;
  resource: Resource;
  applicationId?: string | undefined;
  accountId?: string | undefined;
  /** The producer's own key, unique per account and event kind. */
  producerId?: string | undefined;
  /** By default the time of acceptance. */
  occurredAt?: Date | undefined;
  data: string;
}

/** The result of a reported event. A refused one is not stored. */
export type Acceptance =
  | { accepted: true; id: string; duplicate: boolean; deliveries: number }
  | { accepted: false; refusal: Refusal };

/** Why a well-formed event is refused. */
export type Refusal = 'unknown_application' | 'unknown_account' | 'accounts_differ';

/** A stored event, with its data if requested. */
export interface EventHead {
  id: string;
  accountId: string;
  applicationId?: string;
  event: EventKind;
  resource: EventResource;
  producerId?: string;
  occurredAt: Date;
  createdAt: Date;
  /** When its data were erased; its `data` are empty since. */
  erasedAt?: Date;
  /** Whether it is a sample for a customer's test, not an event of the platform. */
  test: boolean;
  /** JSON text. */
  data?: string;
}

/** An event with its data. */
export interface EventWithData extends EventHead {
  data: string;
}

/** A stored event. */
export interface StoredEvent extends EventWithData {
  /** How many deliveries were added since its acceptance, of at most `MAX_ADDED`. */
  added: number;
}

/** Filters of a list of events. An unknown value finds nothing. */
export interface EventFilter {
  event?: string;
  resource?: string;
  /** Resources, as a subscription has them. */
  resources?: string;
  applicationId?: string;
  producerId?: string;
  /** Whether the event matched no subscription when it was accepted. */
  unmatched?: boolean;
  /** A text in its data, as they were sent. */
  contains?: string;
  /** A subscription of the account that the event is for, and that has no delivery of it. */
  missedBy?: MissingSubscription;
  /** Adds the events' data. */
  withData?: boolean;
  /** Accepted at or after. */
  since?: Date;
  /** Accepted before. */
  until?: Date;
}

/** Why an event was possibly not stored: `InternalError` if its data or a fault of ours prevent that each time. */
export type Unstored = UnavailableError | InternalError;

/** Accepts events. */
export abstract class EventStore {
  /**
   * Durably stores events and one delivery for each matching subscription. Concurrent callers share
   * statements. Results have the order of the events. An event's result is an error if others are stored
   * but this one may not be, or if it is a repeat and the result of its first report is unknown.
   * @throws UnavailableError if possibly none of the events was stored
   */
  abstract accept(events: readonly ReportedEvent[]): Promise<(Acceptance | Unstored)[]>;
}

/** Reads accepted events. */
export abstract class EventReader {
  /**
   * @param options `lock`: locks the event until the transaction ends
   */
  abstract find(
    id: string,
    scope: Scope,
    options?: { lock: boolean },
  ): Promise<StoredEvent | undefined>;

  /** Newest first. */
  abstract list(scope: Scope, filter: EventFilter, page: Page): Promise<Found<EventHead>>;

  /** Of these subscriptions, the ones that have a delivery of the event, with its id. */
  abstract deliveryIdsOf(
    eventId: string,
    webhookIds: readonly string[],
  ): Promise<Map<string, string>>;
}
