import type { EventKind, EventResource } from '../../event-kinds/domain/event-kinds.js';

/** The stored states of a delivery. */
export type StoredState = 'pending' | 'succeeded' | 'exhausted' | 'cancelled';

/** The shown states: a pending delivery of a blocked subscription is shown as `parked`. */
export const DELIVERY_STATES = [
  'pending',
  'parked',
  'succeeded',
  'exhausted',
  'cancelled',
] as const satisfies readonly (StoredState | 'parked')[];
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why a delivery ended without success. */
export type DeliveryReason =
  'gone' | 'no_attempts_left' | 'failing' | 'disabled' | 'deleted' | 'requested' | 'expired';

/** One notification on its way to one subscription. Its id is the notification's. */
export interface Delivery {
  id: string;
  eventId: string;
  webhookId: string;
  event: EventKind;
  resource: EventResource;
  applicationId?: string;
  /** The producer's key of the event. */
  producerId?: string;
  /** The subscription's present target. */
  targetUrl: string;
  state: DeliveryState;
  reason?: DeliveryReason;
  /** How many attempts are recorded. */
  attempts: number;
  lastAttempt?: LastAttempt;
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

/** A request as it was sent, without its body. Values of the customer's own headers, and credentials, are masked. */
export interface SentRequest {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
}

/**
 * How long the parts of an attempt took, in ms. Opening a connection is absent if one was reused, and what did
 * not take place.
 */
export interface AttemptPhases {
  /** From accepting the event until the call; for the first attempt. */
  queued?: number;
  dns?: number;
  connect?: number;
  tls?: number;
  /** From sending the request until the headers of the answer. */
  firstByte?: number;
  body?: number;
}

/** One request to a target, and its outcome. */
export interface Attempt {
  number: number;
  at: Date;
  durationMs: number;
  /** Absent for attempts of earlier versions, as are phases. */
  request?: SentRequest;
  phases?: AttemptPhases;
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

/** How the last attempt of a delivery ended. */
export type LastAttempt = Pick<Attempt, 'at' | 'durationMs' | 'status' | 'error'>;
