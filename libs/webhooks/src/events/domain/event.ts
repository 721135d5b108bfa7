import type {
  EventKind,
  EventResource,
  ReportedKind,
  Resource,
} from '../../event-kinds/domain/event-kinds.js';

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

/** A stored event, without its data. */
export interface EventHead {
  id: string;
  accountId: string;
  applicationId?: string;
  event: EventKind;
  resource: EventResource;
  producerId?: string;
  occurredAt: Date;
  createdAt: Date;
  /** Whether it is a sample for a customer's test, not an event of the platform. */
  test: boolean;
}

/** A stored event. */
export interface StoredEvent extends EventHead {
  /** JSON text. */
  data: string;
  /** How many deliveries were added since its acceptance, of at most `MAX_ADDED`. */
  added: number;
}

/** Filters of a list of events. An unknown value finds nothing. */
export interface EventFilter {
  event?: string;
  resource?: string;
  applicationId?: string;
  producerId?: string;
  /** Whether the event matched no subscription when it was accepted. */
  unmatched?: boolean;
  /** Accepted at or after. */
  since?: Date;
  /** Accepted before. */
  until?: Date;
}
