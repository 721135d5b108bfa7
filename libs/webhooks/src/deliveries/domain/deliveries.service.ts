import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  DomainError,
  type Found,
  isUuid,
  NotFoundError,
  type Page,
  RateLimitedError,
  Transactions,
} from '#libs/kernel';
import type { Attempt, Delivery } from './delivery.js';
import { type DeliveryFilter, DeliveryStore } from './delivery-store.js';
import { sampleOf } from './event-samples.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** Deliveries can no longer start: the subscription is off or deleted. */
export class SubscriptionInactiveError extends DomainError {
  constructor() {
    super('conflict', 'subscription_inactive', 'The webhook subscription is off or deleted.');
  }
}

/** A delivery that still has attempts to come cannot be sent again. */
export class DeliveryNotFinishedError extends DomainError {
  constructor() {
    super('conflict', 'delivery_not_finished', 'The delivery is not finished yet.');
  }
}

/** There is nothing left to cancel. */
export class DeliveryFinishedError extends DomainError {
  constructor() {
    super('conflict', 'delivery_finished', 'The delivery is finished already.');
  }
}

/** How often a delivery may be redelivered. */
const REDELIVERIES = { times: 20, withinMs: 3_600_000 };

/** Shows customers what was delivered to them, sends it again, or no more. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly store: DeliveryStore,
    private readonly webhooks: WebhooksService,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Newest first. @throws NotFoundError for a subscription that is not the account's */
  async list(
    accountId: string,
    webhookId: string,
    filter: DeliveryFilter,
  ): Promise<(page: Page) => Promise<Found<Delivery>>> {
    const webhook = await this.webhooks.get(accountId, webhookId);
    return (page) => this.store.list(webhook, filter, page);
  }

  /** Readable after the subscription is gone. @throws NotFoundError */
  async get(accountId: string, id: string): Promise<Delivery> {
    const delivery = isUuid(id) ? await this.store.find(id, accountId) : undefined;
    if (!delivery) throw new NotFoundError('delivery');
    return delivery;
  }

  /** In the order in which they were made. @param after the number of the one before; 0 for the first */
  attempts({ id }: Pick<Delivery, 'id'>, after: number, limit: number): Promise<Attempt[]> {
    return this.store.attemptsOf(id, after, limit);
  }

  /**
   * Sends a finished delivery again, with a full schedule.
   * @throws NotFoundError, DeliveryNotFinishedError, SubscriptionInactiveError, RateLimitedError
   */
  async redeliver(accountId: string, id: string): Promise<void> {
    await this.transactions.run(async () => {
      const { webhookId } = await this.get(accountId, id);
      if (!(await this.store.redeliver(id))) throw await this.refusal(accountId, webhookId);
      const change = { action: 'delivery.redeliver', resourceId: id, accountId } as const;
      // Its row is locked, so every other redelivery is either recorded already or still waiting.
      const waitMs = await this.audit.msUntilFewer(change, REDELIVERIES);
      if (waitMs > 0) {
        const message = `A delivery is sent again at most ${REDELIVERIES.times} times in an hour.`;
        throw new RateLimitedError(message, waitMs);
      }
      await this.audit.record(change);
    });
  }

  /** Why a delivery was not sent again. */
  private async refusal(accountId: string, webhookId: string): Promise<DomainError> {
    // Not by the state that is shown: an attempt that is on its way may belong to a delivery that
    // was cancelled while its subscription was off for a moment.
    const isActive = await this.webhooks.get(accountId, webhookId).then(
      ({ enabled }) => enabled,
      (error: unknown) => {
        if (error instanceof NotFoundError) return false;
        throw error;
      },
    );
    return isActive ? new DeliveryNotFinishedError() : new SubscriptionInactiveError();
  }

  /**
   * Gives a delivery up that is not finished; nothing happens when that was asked for before.
   * @throws NotFoundError, DeliveryFinishedError
   */
  async cancel(accountId: string, id: string): Promise<void> {
    await this.transactions.run(async () => {
      await this.get(accountId, id);
      if (await this.store.cancel(id)) {
        await this.audit.record({ action: 'delivery.cancel', resourceId: id, accountId });
        return;
      }
      const { state, reason } = await this.get(accountId, id);
      if (state !== 'cancelled' || reason !== 'requested') throw new DeliveryFinishedError();
    });
  }

  /**
   * Sends a sample of the subscription's own event, once and at once.
   * @returns the delivery's id
   * @throws NotFoundError, SubscriptionInactiveError
   */
  async test(accountId: string, webhookId: string): Promise<string> {
    return this.transactions.run(async () => {
      const webhook = await this.webhooks.get(accountId, webhookId);
      const id = await this.store.createTest({ webhookId: webhook.id, ...sampleOf(webhook) });
      if (id === undefined) throw new SubscriptionInactiveError();
      await this.audit.record({ action: 'delivery.test', resourceId: id, accountId });
      return id;
    });
  }
}
