import type { Found, Page } from '#libs/kernel';
import type { Attempt, Delivery } from './delivery.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

/** Filters of a list of deliveries. An unknown value finds nothing. */
export interface DeliveryFilter {
  /** Absent for all accounts. */
  accountId?: string;
  webhook?: Pick<Webhook, 'id'> & Partial<Pick<Webhook, 'createdAt'>>;
  applicationId?: string;
  state?: string;
  event?: string;
  /** The result of the last attempt: a status such as `404`, a class such as `5xx`, an error, or `failed`. */
  status?: string;
  /** Created at or after. */
  since?: Date;
  /** Created before. */
  until?: Date;
}

/** To how many subscriptions that it had not matched an event can be sent. */
export const MAX_ADDED = 100;

/** The log of deliveries. */
export abstract class DeliveryStore {
  /** Newest first. */
  abstract list(filter: DeliveryFilter, page: Page): Promise<Found<Delivery>>;

  /** @param accountId the owner; undefined for any account */
  abstract find(id: string, accountId: string | undefined): Promise<Delivery | undefined>;

  /** Oldest first. @param after the number of the previous attempt; 0 for the first page */
  abstract attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]>;

  /**
   * Adds the delivery of an event to a subscription of its account. The caller has locked the event, and rolls back
   * if nothing was added.
   * @returns its id; undefined if the subscription has one, or is off or deleted
   */
  abstract create(eventId: string, webhookId: string): Promise<string | undefined>;

  /**
   * Restarts the schedule of a finished delivery.
   * @returns false if it is not finished, or its subscription is off or deleted
   */
  abstract redeliver(id: string): Promise<boolean>;

  /**
   * Cancels a delivery at its customer's request. An attempt in flight is still recorded.
   * @returns false if it is finished
   */
  abstract cancel(id: string): Promise<boolean>;

  /** Stores a test event and its delivery. @returns the delivery's id; undefined if switched off */
  abstract createTest(test: TestEvent): Promise<string | undefined>;
}

/** A sample event for one subscription. `data` is JSON text. */
export interface TestEvent {
  webhookId: string;
  resource: string;
  data: string;
}
