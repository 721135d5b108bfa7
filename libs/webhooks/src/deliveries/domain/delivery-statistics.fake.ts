import type { Webhook } from '../../subscriptions/domain/webhook.js';
import {
  type AttemptOutcome,
  type DeliveryStatistics,
  DeliveryStatisticsStore,
  outcomesOf,
} from './delivery-statistics.js';

/** Statistics of what tests put in. */
export class FakeDeliveryStatisticsStore extends DeliveryStatisticsStore {
  readonly attempts = new Map<string, AttemptOutcome[]>();
  /** When the waiting deliveries were created, oldest first. */
  readonly waiting = new Map<string, Date[]>();

  override of({ id }: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics> {
    const [since, ...others] = this.waiting.get(id) ?? [];
    const waiting = since ? { deliveries: 1 + others.length, since } : { deliveries: 0 };
    return Promise.resolve({ ...outcomesOf(this.attempts.get(id) ?? []), waiting });
  }
}
