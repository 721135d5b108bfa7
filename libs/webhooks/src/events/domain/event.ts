import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';

/** An event as its producer reports it. `data` is JSON text, byte for byte as it was sent. */
export interface ReportedEvent {
  event: EventKind;
  resource: Resource;
  applicationId?: string | undefined;
  accountId?: string | undefined;
  /** The producer's own key, unique per account and event kind. */
  producerId?: string | undefined;
  /** Time of acceptance when absent. */
  occurredAt?: Date | undefined;
  data: string;
}

/** What became of a reported event; a refused one is stored nowhere. */
export type Acceptance =
  | { accepted: true; id: string; duplicate: boolean; deliveries: number }
  | { accepted: false; refusal: Refusal };

/** Why an event that is well-formed is refused all the same. */
export type Refusal = 'unknown_application' | 'unknown_account' | 'accounts_differ';

/** A stored event, without its data. */
export interface EventHead {
  id: string;
  accountId: string;
  applicationId?: string;
  event: EventKind;
  resource: Resource;
  producerId?: string;
  occurredAt: Date;
  createdAt: Date;
  /** A sample that a customer had sent to a subscription, not an event of the platform. */
  test: boolean;
}

/** A stored event. */
export interface StoredEvent extends EventHead {
  /** JSON text. */
  data: string;
}

/** What a list of events is narrowed down to. A value that nothing has finds nothing. */
export interface EventFilter {
  event?: string;
  resource?: string;
  applicationId?: string;
  producerId?: string;
  /** Accepted at or after. */
  since?: Date;
  /** Accepted before. */
  until?: Date;
}
