import { describe } from 'vitest';
import { EVERY_ACCOUNT } from '#libs/kernel';
import { deliveryStoreContract } from './delivery-store.contract.js';
import { FakeDeliveryStore } from './delivery-store.fake.js';

let lastId = 0;
const anId = () => String((lastId += 1));
const done = Promise.resolve();

describe('the fake log of deliveries', () => {
  const store = new FakeDeliveryStore();
  deliveryStoreContract({
    store: () => store,
    aSubscription: (accountId = anId()) => {
      const webhookId = anId();
      store.subscriptions.set(webhookId, { accountId, enabled: true });
      return Promise.resolve({ accountId, webhookId });
    },
    switchOff: (webhookId) => {
      store.subscriptions.get(webhookId)!.enabled = false;
      return done;
    },
    aDelivery: (webhookId, state) => Promise.resolve(store.deliver(webhookId, { state }).id),
    reported: async (id, producerId, data) => {
      const delivery = (await store.find(id, EVERY_ACCOUNT))!;
      delivery.producerId = producerId;
      store.data.set(delivery.eventId, data);
    },
    attempted: (id, statuses) => {
      const rest = { at: new Date(), durationMs: 1, truncated: false };
      const attempts = statuses.map((status, index) => ({ number: index + 1, status, ...rest }));
      store.attempts.set(id, attempts);
      return done;
    },
  });
});
