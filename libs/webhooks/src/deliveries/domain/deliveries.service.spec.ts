import { beforeEach, describe, expect, it } from 'vitest';
import { NotFoundError, RateLimitedError } from '#libs/kernel';
import { aContent, webhooksOnFakes } from '../../subscriptions/domain/webhooks.fake.js';
import {
  DeliveriesService,
  DeliveryFinishedError,
  DeliveryNotFinishedError,
  SubscriptionInactiveError,
} from './deliveries.service.js';
import type { Delivery } from './delivery.js';
import { FakeDeliveryStore } from './delivery-store.fake.js';

const ACCOUNT = '1';
const UNKNOWN = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

let fakes: ReturnType<typeof webhooksOnFakes>;
let store: FakeDeliveryStore;
let deliveries: DeliveriesService;
let webhookId: string;

beforeEach(async () => {
  fakes = webhooksOnFakes();
  store = new FakeDeliveryStore();
  const { webhooks, transactions, audit, activity } = fakes;
  deliveries = new DeliveriesService(store, webhooks, transactions, audit, activity);
  webhookId = await webhooks.create({ accountId: ACCOUNT }, aContent());
  store.subscriptions.set(webhookId, { accountId: ACCOUNT, enabled: true });
});

async function switchOff(): Promise<void> {
  await fakes.webhooks.update({ accountId: ACCOUNT, id: webhookId }, { enabled: false }, () => 0);
  store.subscriptions.get(webhookId)!.enabled = false;
}

const aDelivery = (columns: Partial<Delivery> = {}) => store.deliver(webhookId, columns).id;
/** What was recorded of deliveries. */
const recorded = () => fakes.audit.entries.filter(({ action }) => action.startsWith('delivery.'));

describe("another account's delivery", () => {
  it('is not found by any operation', async () => {
    const id = aDelivery({ state: 'exhausted' });
    for (const [account, one] of [
      ['2', id],
      [ACCOUNT, UNKNOWN],
      [ACCOUNT, 'x'],
    ] as const) {
      for (const work of [
        deliveries.get(account, one),
        deliveries.redeliver(account, one),
        deliveries.send(account, one),
        deliveries.cancel(account, one),
      ]) {
        await expect(work).rejects.toThrow(NotFoundError);
      }
    }
    await expect(deliveries.listOf('2', webhookId, {})).rejects.toThrow(NotFoundError);
    await expect(deliveries.test('2', webhookId)).rejects.toThrow(NotFoundError);
    expect(recorded()).toEqual([]);
  });
});

it('lists the deliveries of a subscription, and shows their attempts', async () => {
  const [one, other] = [aDelivery({ state: 'succeeded' }), aDelivery()];
  const attempt = { number: 1, at: new Date(), durationMs: 1, status: 200, truncated: false };
  store.attempts.set(one, [attempt]);
  const page = await deliveries.listOf(ACCOUNT, webhookId, { state: 'pending' });
  expect((await page({ limit: 10 })).rows.map(({ id }) => id)).toEqual([other]);
  expect(await deliveries.attempts({ id: one }, 0, 10)).toEqual([attempt]);
  expect(await deliveries.attempts({ id: one }, 1, 10)).toEqual([]);
});

describe('redelivering', () => {
  it('restarts a finished delivery, and is recorded', async () => {
    const id = aDelivery({ state: 'exhausted' });
    await deliveries.redeliver(ACCOUNT, id);
    expect(await deliveries.get(ACCOUNT, id)).toMatchObject({ state: 'pending' });
    expect(recorded()).toEqual([
      { action: 'delivery.redeliver', resourceId: id, accountId: ACCOUNT },
    ]);
  });

  const [past, future] = ['2026-11-21T12:00:00.000Z', '2999-11-21T12:00:00.000Z'];
  const sendNow = 'send it now with POST /v1/deliveries/{id}/send, or';

  it.each([
    [{ nextAttemptAt: new Date(future) }, `${sendNow} wait for its next attempt at ${future}.`],
    [{ nextAttemptAt: new Date(past) }, `it has been due since ${past} and is waiting to be sent.`],
    [{ state: 'parked' }, `${sendNow} wait until it is no longer parked.`],
    [
      { state: 'parked', nextAttemptAt: new Date(past) },
      `${sendNow} wait until it is no longer parked.`,
    ],
    [{}, 'wait until its attempt in flight has ended.'],
  ] as const)('is refused while the delivery is not finished: %j', async (columns, says) => {
    const redelivery = deliveries.redeliver(ACCOUNT, aDelivery(columns));
    await expect(redelivery).rejects.toThrow(`The delivery is not finished yet: ${says}`);
    await expect(redelivery).rejects.toBeInstanceOf(DeliveryNotFinishedError);
    expect(recorded()).toEqual([]);
  });

  it('is refused while the subscription is disabled, and after it was deleted', async () => {
    const id = aDelivery({ state: 'exhausted' });
    await switchOff();
    await expect(deliveries.redeliver(ACCOUNT, id)).rejects.toThrow(SubscriptionInactiveError);
    await fakes.webhooks.delete({ accountId: ACCOUNT, id: webhookId }, () => undefined);
    await expect(deliveries.redeliver(ACCOUNT, id)).rejects.toThrow(SubscriptionInactiveError);
  });

  it('is refused after twenty times in an hour, for this delivery only', async () => {
    const [id, other] = [aDelivery({ state: 'exhausted' }), aDelivery({ state: 'exhausted' })];
    const again = async () => {
      (await deliveries.get(ACCOUNT, id)).state = 'exhausted';
      await deliveries.redeliver(ACCOUNT, id);
    };
    for (let times = 0; times < 20; times += 1) await again();
    const refusal: unknown = await again().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RateLimitedError);
    await deliveries.redeliver(ACCOUNT, other);
    expect(recorded()).toHaveLength(21);
  });
});

describe('sending now', () => {
  it.each([
    ['pending', 'delivery.send'],
    ['parked', 'delivery.send'],
    ['exhausted', 'delivery.redeliver'],
    ['succeeded', 'delivery.redeliver'],
  ] as const)('starts a delivery that is %s, and is recorded as %s', async (state, action) => {
    const id = aDelivery({ state });
    await deliveries.send(ACCOUNT, id);
    expect(await deliveries.get(ACCOUNT, id)).toMatchObject({ state: 'pending' });
    expect(recorded()).toEqual([{ action, resourceId: id, accountId: ACCOUNT }]);
  });

  it.each(['pending', 'exhausted'] as const)(
    'is refused for one that is %s while the subscription is disabled',
    async (state) => {
      const id = aDelivery({ state });
      await switchOff();
      await expect(deliveries.send(ACCOUNT, id)).rejects.toThrow(SubscriptionInactiveError);
      expect(recorded()).toEqual([]);
    },
  );

  it('is refused after twenty times in an hour, for this delivery only', async () => {
    const [id, other] = [aDelivery(), aDelivery()];
    for (let times = 0; times < 20; times += 1) await deliveries.send(ACCOUNT, id);
    await expect(deliveries.send(ACCOUNT, id)).rejects.toThrow(RateLimitedError);
    await deliveries.send(ACCOUNT, other);
    expect(recorded()).toHaveLength(21);
  });
});

describe('cancelling', () => {
  it('ends an unfinished delivery, and is recorded once', async () => {
    const id = aDelivery();
    await deliveries.cancel(ACCOUNT, id);
    await deliveries.cancel(ACCOUNT, id);
    expect(await deliveries.get(ACCOUNT, id)).toMatchObject({ state: 'cancelled' });
    expect(recorded()).toEqual([{ action: 'delivery.cancel', resourceId: id, accountId: ACCOUNT }]);
  });

  it.each([
    { state: 'succeeded' },
    { state: 'exhausted', reason: 'gone' },
    { state: 'cancelled', reason: 'disabled' },
  ] as const)('is refused for a delivery that ended otherwise: %j', async (columns) => {
    const id = aDelivery(columns);
    await expect(deliveries.cancel(ACCOUNT, id)).rejects.toThrow(DeliveryFinishedError);
  });
});

describe('a test', () => {
  it("sends a sample of the subscription's kind, and is recorded", async () => {
    const id = await deliveries.test(ACCOUNT, webhookId);
    const test = { test: true, resource: 'call', state: 'pending' };
    expect(await deliveries.get(ACCOUNT, id)).toMatchObject(test);
    expect(recorded()).toEqual([{ action: 'delivery.test', resourceId: id, accountId: ACCOUNT }]);
  });

  it('is refused while the subscription is disabled', async () => {
    await switchOff();
    await expect(deliveries.test(ACCOUNT, webhookId)).rejects.toThrow(SubscriptionInactiveError);
    expect(recorded()).toEqual([]);
  });
});
