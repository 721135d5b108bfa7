import { expect, it } from 'vitest';
import type { DeliveryStatisticsStore } from './delivery-statistics.js';

/** Statistics under test. */
export interface StatisticsUnderTest {
  store: () => DeliveryStatisticsStore;
  /** A new subscription. @param ofAccount by default a new account */
  aSubscription: (ofAccount?: string) => Promise<{ accountId: string; webhookId: string }>;
  /** Stores a finished delivery with one attempt. */
  attempted: (webhookId: string, status: number) => Promise<void>;
  /** Stores a pending delivery. @returns when it was created */
  pending: (webhookId: string) => Promise<Date>;
}

/** What every implementation of {@link DeliveryStatisticsStore} must do. */
export function deliveryStatisticsContract(underTest: StatisticsUnderTest): void {
  const { store, aSubscription, attempted, pending } = underTest;
  const of = (id: string) => store().of({ id, createdAt: new Date(Date.now() - 60_000) });

  it('are empty for a new subscription', async () => {
    const none = { attempts: 0, outcomes: {}, waiting: { deliveries: 0 } };
    expect(await of((await aSubscription()).webhookId)).toEqual(none);
  });

  it("count a subscription's attempts and its waiting deliveries", async () => {
    const { webhookId: webhook } = await aSubscription();
    const { webhookId: other } = await aSubscription();
    for (const status of [200, 204, 500, 404]) await attempted(webhook, status);
    const since = await pending(webhook);
    await pending(webhook);
    await attempted(other, 500);
    expect(await of(webhook)).toMatchObject({
      attempts: 4,
      outcomes: { '2xx': 2, '4xx': 1, '5xx': 1 },
      successRate: 0.5,
      waiting: { deliveries: 2, since },
    });
  });

  it('count the waiting deliveries of all subscriptions of an account', async () => {
    const { accountId, webhookId } = await aSubscription();
    expect(await store().waitingOf(accountId)).toEqual({ deliveries: 0 });
    const since = await pending(webhookId);
    await pending((await aSubscription(accountId)).webhookId);
    await pending((await aSubscription()).webhookId);
    expect(await store().waitingOf(accountId)).toEqual({ deliveries: 2, since });
  });
}
