import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';

/** The stored states of a delivery. */
export type StoredState = 'pending' | 'succeeded' | 'exhausted' | 'cancelled';

/** The shown states: a pending delivery of a blocked subscription is shown as `parked`. */
export type DeliveryState = StoredState | 'parked';

/** Why a delivery ended without success. */
export type DeliveryReason =
  'gone' | 'no_attempts_left' | 'failing' | 'disabled' | 'deleted' | 'requested' | 'expired';

/** One notification on its way to one subscription. Its id is the notification's. */
export interface Delivery {
  id: string;
  eventId: string;
  webhookId: string;
  event: EventKind;
  resource: Resource;
  applicationId?: string;
  /** The subscription's present target. */
  targetUrl: string;
  state: DeliveryState;
  reason?: DeliveryReason;
  /** How many attempts are recorded. */
  attempts: number;
  nextAttemptAt?: Date;
  createdAt: Date;
  completedAt?: Date;
  test: boolean;
}

/** Why an attempt got no answer. */
export const ATTEMPT_ERRORS = [
  'dns',
  'refused',
  'reset',
  'timeout',
  'tls',
  'blocked',
  'protocol',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** One request to a target, and its outcome. */
export interface Attempt {
  number: number;
  at: Date;
  durationMs: number;
  /** Status of the answer; absent when there was none. */
  status?: number;
  error?: AttemptError;
  /** The address that was called. */
  address?: string;
  responseHeaders?: Record<string, string | string[]>;
  responseBody?: string;
  /** Whether the body was longer than what is kept. */
  truncated: boolean;
}

/** A delivery in a queue job, with the number of its lease. */
export interface DeliveryJob {
  id: string;
  /** A worker takes the delivery only if no other has leased it since. */
  lease: number;
}
