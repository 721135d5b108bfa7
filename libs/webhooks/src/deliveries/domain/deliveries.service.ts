import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  DomainError,
  type Found,
  isUuid,
  NotFoundError,
  type Page,
  RateLimitedError,
  type Scope,
  Transactions,
} from '#libs/kernel';
import { type Attempt, type Delivery, type DeliveryFilter, DeliveryStore } from './delivery.js';
import { sampleOf } from '../../event-kinds/domain/event-samples.js';
import { Activity } from '../../activity/domain/activity.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** The subscription is disabled or deleted, so nothing can be sent to it. */
export class SubscriptionInactiveError extends DomainError {
  constructor() {
    super('conflict', 'subscription_inactive', 'The webhook subscription is disabled or deleted.');
  }
}

/** The data of the event were erased, so it cannot be sent. */
export class EventErasedError extends DomainError {
  constructor() {
    super('conflict', 'event_erased', 'The data of the event was erased, so it cannot be sent.');
  }
}

/** An unfinished delivery cannot be redelivered. */
export class DeliveryNotFinishedError extends DomainError {
  constructor(delivery: Pick<Delivery, 'state' | 'nextAttemptAt'>) {
    const message = `The delivery is not finished yet: ${wayOutOf(delivery)}.`;
    super('conflict', 'delivery_not_finished', message);
  }
}

const SEND_NOW = 'send it now with POST /v1/deliveries/{id}/send';

function wayOutOf({ state, nextAttemptAt }: Pick<Delivery, 'state' | 'nextAttemptAt'>): string {
  if (state === 'parked') return `${SEND_NOW}, or wait until it is no longer parked`;
  if (!nextAttemptAt) return 'wait until its attempt in flight has ended';
  const at = nextAttemptAt.toISOString();
  return nextAttemptAt.getTime() > Date.now()
    ? `${SEND_NOW}, or wait for its next attempt at ${at}`
    : `it has been due since ${at} and is waiting to be sent`;
}

/** A finished delivery cannot be cancelled. */
export class DeliveryFinishedError extends DomainError {
  constructor() {
    super('conflict', 'delivery_finished', 'The delivery is already finished.');
  }
}

/** How often a delivery may be redelivered, and how often it may be sent now. */
const REDELIVERIES = { times: 20, withinMs: 3_600_000 };

/** Shows customers their deliveries, and sends, redelivers, cancels and tests them. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly store: DeliveryStore,
    private readonly webhooks: WebhooksService,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly activity: Activity,
  ) {}

  /** Newest first. */
  list(scope: Scope, filter: DeliveryFilter, page: Page): Promise<Found<Delivery>> {
    return this.store.list(scope, filter, page);
  }

  /** Newest first. @throws NotFoundError if the subscription does not belong to the account */
  async listOf(
    accountId: string,
    webhookId: string,
    filter: DeliveryFilter,
  ): Promise<(page: Page) => Promise<Found<Delivery>>> {
    const webhook = await this.webhooks.get(accountId, webhookId);
    return (page) => this.store.list(accountId, { ...filter, webhook }, page);
  }

  /**
   * Also works after the subscription was deleted.
   * @throws NotFoundError
   */
  async get(scope: Scope, id: string): Promise<Delivery> {
    const delivery = isUuid(id) ? await this.store.find(id, scope) : undefined;
    if (!delivery) throw new NotFoundError('delivery');
    return delivery;
  }

  /** Oldest first. @param after the number of the previous attempt; 0 for the first page */
  attempts({ id }: Pick<Delivery, 'id'>, after: number, limit: number): Promise<Attempt[]> {
    return this.store.attemptsOf(id, after, limit);
  }

  /**
   * Sends a finished delivery again, with a full schedule.
   * @throws NotFoundError, EventErasedError, DeliveryNotFinishedError, SubscriptionInactiveError, RateLimitedError
   */
  async redeliver(accountId: string, id: string): Promise<void> {
    await this.start(accountId, id, async () =>
      (await this.store.redeliver(id)) ? 'delivery.redeliver' : undefined,
    );
  }

  /**
   * Sends a delivery at once: one that is not finished without waiting for its next attempt or for what blocks its
   * subscription, and a finished one like {@link redeliver}.
   * @throws NotFoundError, DeliveryNotFinishedError if it was cancelled while an attempt is in flight,
   * EventErasedError, SubscriptionInactiveError, RateLimitedError
   */
  async send(accountId: string, id: string): Promise<void> {
    await this.start(accountId, id, async () => {
      if (await this.store.sendNow(id)) return 'delivery.send';
      return (await this.store.redeliver(id)) ? 'delivery.redeliver' : undefined;
    });
  }

  /** @param work starts the delivery; answers what it did, or undefined for nothing */
  private async start(
    accountId: string,
    id: string,
    work: () => Promise<'delivery.redeliver' | 'delivery.send' | undefined>,
  ): Promise<void> {
    await this.transactions.run(async () => {
      const delivery = await this.get(accountId, id);
      const action = await work();
      if (action === undefined) throw await this.refusal(accountId, delivery);
      const change = { action, resourceId: id, accountId };
      // The row is locked, so any other start is either already recorded or still waiting.
      const waitMs = await this.audit.msUntilFewer(change, REDELIVERIES);
      if (waitMs > 0) {
        const message = `A delivery is sent again at most ${REDELIVERIES.times} times in an hour.`;
        throw new RateLimitedError(message, waitMs);
      }
      await this.audit.record(change);
    });
    this.activity.report(accountId, { kind: 'delivery', id });
  }

  /** Why a delivery cannot be redelivered. */
  private async refusal(accountId: string, delivery: Delivery): Promise<DomainError> {
    if (delivery.erasedAt) return new EventErasedError();
    // The shown state cannot decide: a delivery may have been cancelled while its subscription was
    // briefly off, and still have an attempt in flight.
    const webhook = await this.webhooks.lookUp(accountId, delivery.webhookId);
    return webhook?.enabled
      ? new DeliveryNotFinishedError(delivery)
      : new SubscriptionInactiveError();
  }

  /**
   * Cancels an unfinished delivery. Repeating the request changes nothing.
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
    this.activity.report(accountId, { kind: 'delivery', id });
  }

  /**
   * Sends a sample of the subscription's event kind at once, with a single attempt.
   * @returns the delivery's id
   * @throws NotFoundError, SubscriptionInactiveError
   */
  async test(accountId: string, webhookId: string): Promise<string> {
    const testId = await this.transactions.run(async () => {
      const webhook = await this.webhooks.get(accountId, webhookId);
      const id = await this.store.createTest({ webhookId: webhook.id, ...sampleOf(webhook) });
      if (id === undefined) throw new SubscriptionInactiveError();
      await this.audit.record({ action: 'delivery.test', resourceId: id, accountId });
      return id;
    });
    this.activity.report(accountId, { kind: 'delivery', id: testId });
    return testId;
  }
}
