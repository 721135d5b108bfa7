import type { Webhook } from '../../subscriptions/domain/webhook.js';
import {
  type AttemptOutcome,
  type DeliveryStatistics,
  DeliveryStatisticsStore,
  outcomesOf,
  type Waiting,
} from './delivery-statistics.js';

/** Statistics of what tests put in. */
export class FakeDeliveryStatisticsStore extends DeliveryStatisticsStore {
  readonly attempts = new Map<string, AttemptOutcome[]>();
  /** The accounts of subscriptions. */
  readonly accounts = new Map<string, string>();
  /** When the waiting deliveries were created, oldest first. */
  readonly waiting = new Map<string, Date[]>();

  override of({ id }: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics> {
    const waiting = waitingSince(this.waiting.get(id) ?? []);
    return Promise.resolve({ ...outcomesOf(this.attempts.get(id) ?? []), waiting });
  }

  override waitingOf(accountId: string): Promise<Waiting> {
    const all = [...this.waiting].flatMap(([id, since]) =>
      this.accounts.get(id) === accountId ? since : [],
    );
    return Promise.resolve(waitingSince(all.sort((one, other) => one.getTime() - other.getTime())));
  }
}

function waitingSince([since, ...others]: readonly Date[]): Waiting {
  return since ? { deliveries: 1 + others.length, since } : { deliveries: 0 };
}
