import { Injectable } from '@nestjs/common';
import { WebhooksService } from './webhooks.service.js';

/** How deliveries to a subscription went lately, and what waits. */
export interface DeliveryStatistics {
  /** How many attempts this is about: the newest, 1,000 at the most. */
  attempts: number;
  /** Attempts by outcome: `2xx` to `5xx`, or the error of one that got no answer. */
  outcomes: Record<string, number>;
  /** Share of the attempts that succeeded, from 0 to 1; absent without attempts. */
  successRate?: number;
  /** Time until the answer's headers, in ms; absent without answers. */
  answerMs?: { p50: number; p95: number };
  /** Deliveries that wait for an attempt, and when the oldest of them was made. */
  waiting: { deliveries: number; since?: Date };
}

/** Where the statistics come from. */
export abstract class DeliveryStatisticsStore {
  abstract of(webhookId: string): Promise<DeliveryStatistics>;
}

/** Tells customers how their web application does. */
@Injectable()
export class DeliveryStatisticsService {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly store: DeliveryStatisticsStore,
  ) {}

  /** @throws NotFoundError */
  async of(accountId: string, webhookId: string): Promise<DeliveryStatistics> {
    const webhook = await this.webhooks.get(accountId, webhookId);
    return this.store.of(webhook.id);
  }
}
