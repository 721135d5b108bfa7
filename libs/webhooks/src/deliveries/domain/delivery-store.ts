import type { Found, Page } from '#libs/kernel';
import type { Attempt, Delivery } from './delivery.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';

/** What a list of deliveries is narrowed down to. A value that nothing has finds nothing. */
export interface DeliveryFilter {
  state?: string;
  event?: string;
  /** Created at or after. */
  since?: Date;
  /** Created before. */
  until?: Date;
}

/** The log of deliveries. */
export abstract class DeliveryStore {
  /** Newest first. */
  abstract list(
    webhook: Pick<Webhook, 'id' | 'createdAt'>,
    filter: DeliveryFilter,
    page: Page,
  ): Promise<Found<Delivery>>;

  abstract find(id: string, accountId: string): Promise<Delivery | undefined>;

  /** In the order in which they were made. @param after the number of the one before; 0 for the first */
  abstract attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]>;

  /**
   * Starts the schedule of a finished delivery anew.
   * @returns false when it is not finished, or its subscription is off or deleted
   */
  abstract redeliver(id: string): Promise<boolean>;

  /**
   * Cancels a delivery because its customer asks for it. An attempt that is on its way is recorded
   * all the same.
   * @returns false when it is finished
   */
  abstract cancel(id: string): Promise<boolean>;

  /** Stores a test event and its one delivery. @returns its id; undefined: the subscription is off */
  abstract createTest(test: TestEvent): Promise<string | undefined>;
}

/** A sample event for one subscription. `data` is JSON text. */
export interface TestEvent {
  webhookId: string;
  resource: string;
  data: string;
}
