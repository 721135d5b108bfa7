import type { Found, Page, Scope } from '#libs/kernel';
import type { EventKind, EventResource } from '../../event-kinds/domain/event-kinds.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

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
  | 'gone'
  | 'no_attempts_left'
  | 'failing'
  | 'disabled'
  | 'deleted'
  | 'requested'
  | 'erased'
  | 'expired';

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
  /** It is due, and waits for our own network: no worker reaches a target. */
  waitsFor?: 'hold';
  createdAt: Date;
  completedAt?: Date;
  /** When the data of its event were erased. */
  erasedAt?: Date;
  test: boolean;
  /** The body of its notification, if requested and if the event still exists: JSON text. */
  notification?: string;
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

/** Errors that may be our own network's; after the others, the host has answered something, or was not called. */
export const SILENCE: readonly AttemptError[] = ['dns', 'refused', 'reset', 'timeout'];

/** What failed in TLS, or that the operator's proxy refused. */
export type AttemptDetail =
  'expired' | 'name' | 'untrusted' | 'client_certificate' | 'protocol' | 'other' | 'proxy';

/** A request as it was sent, without its body. Values of the customer's own headers, and credentials, are masked. */
export interface SentRequest {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
}

/**
 * How long the phases of an attempt took, in ms. Phases that did not take place are absent, such as connecting when a
 * connection was reused.
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
  /** Absent for attempts of earlier versions. */
  detail?: AttemptDetail;
  /** The address that was called. */
  address?: string;
  responseHeaders?: Record<string, string | string[]>;
  responseBody?: string;
  /** Whether the body was longer than the stored part. */
  truncated: boolean;
}

/** How the last attempt of a delivery ended. */
export type LastAttempt = Pick<Attempt, 'at' | 'durationMs' | 'status' | 'error' | 'detail'>;

/** Filters of a list of deliveries. An unknown value finds nothing. */
export interface DeliveryFilter {
  webhook?: Pick<Webhook, 'id'> & Partial<Pick<Webhook, 'createdAt'>>;
  applicationId?: string;
  eventId?: string;
  /** The producer's key of the event. */
  producerId?: string;
  /** A text in the event's data, as they were sent. */
  contains?: string;
  /** Adds the notifications. */
  withNotification?: boolean;
  state?: string;
  event?: string;
  /** The result of the last attempt: a status such as `404`, a class such as `5xx`, an error, or `failed`. */
  status?: string;
  /** Created at or after. */
  since?: Date;
  /** Created before. */
  until?: Date;
}

/** Deliveries by their ids, and all deliveries of some events. */
export interface WantedDeliveries {
  ids?: readonly string[];
  eventIds?: readonly string[];
}

/** Most deliveries that can be added to an event after its acceptance. */
export const MAX_ADDED = 100;

/** The log of deliveries. */
export abstract class DeliveryStore {
  /** Newest first. */
  abstract list(scope: Scope, filter: DeliveryFilter, page: Page): Promise<Found<Delivery>>;

  /** Those that exist, each once. */
  abstract findAll(scope: Scope, wanted: WantedDeliveries): Promise<Delivery[]>;

  async find(id: string, scope: Scope): Promise<Delivery | undefined> {
    const [found] = await this.findAll(scope, { ids: [id] });
    return found;
  }

  /** Oldest first. @param after the number of the previous attempt; 0 for the first page */
  abstract attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]>;

  /**
   * Adds the delivery of an event to a subscription of its account. The caller has locked the event, and rolls back
   * if nothing was added.
   * @returns its id; undefined if the subscription has one, or is disabled or deleted
   */
  abstract create(eventId: string, webhookId: string): Promise<string | undefined>;

  /**
   * Restarts the schedule of a finished delivery.
   * @returns false if it is not finished, or its subscription is disabled or deleted
   */
  abstract redeliver(id: string): Promise<boolean>;

  /**
   * Makes an unfinished delivery due at once, even if its subscription is blocked. If the attempt fails, the schedule
   * goes on as if it had not been made. A delivery that is leased stays so, because its attempt is about to be made.
   * @returns false if it is finished, or its subscription is disabled or deleted
   */
  abstract sendNow(id: string): Promise<boolean>;

  /**
   * Cancels a delivery at its customer's request. An attempt in flight is still recorded.
   * @returns false if it is finished
   */
  abstract cancel(id: string): Promise<boolean>;

  /** Stores a test event and its delivery. @returns the delivery's id; undefined if disabled */
  abstract createTest(test: TestEvent): Promise<string | undefined>;
}

/** A sample event for one subscription. `data` is JSON text. */
export interface TestEvent {
  webhookId: string;
  resource: string;
  data: string;
}
