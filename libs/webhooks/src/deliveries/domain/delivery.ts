import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';

/** What is stored of a delivery's state. */
export type StoredState = 'pending' | 'succeeded' | 'exhausted' | 'cancelled';

/** What is shown of it: a pending delivery of a subscription that waits as a whole is `parked`. */
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
  /** As the subscription has it now. */
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

/** One request to a target, and what came of it. */
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
  /** Whether there was more of the body than is kept. */
  truncated: boolean;
}

/** What a queue job says: which delivery, and under which lease. */
export interface DeliveryJob {
  id: string;
  /** A worker takes it only if nobody has had it since. */
  lease: number;
}
