import { describe } from 'vitest';
import { deliveryStoreContract } from '../../deliveries/domain/delivery-store.contract.js';
import { FakeDeliveryStore } from '../../deliveries/domain/delivery-store.fake.js';
import { replayStoreContract } from './replay-store.contract.js';
import { FakeReplayStore } from './replay-store.fake.js';

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
      const delivery = (await store.find(id, undefined))!;
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

describe('fake replays', () => {
  const store = new FakeReplayStore();
  replayStoreContract({
    store: () => store,
    aSubscription: (ofAccount) => {
      const [accountId, webhookId] = [ofAccount ?? anId(), anId()];
      store.owners.set(webhookId, accountId);
      return Promise.resolve({ accountId, webhookId });
    },
    anApplication: (accountId) => {
      const id = anId();
      store.applications.set(id, accountId);
      return Promise.resolve(id);
    },
    switchOff: (webhookId) => {
      store.off.add(webhookId);
      return done;
    },
    pause: (webhookId) => {
      store.paused.add(webhookId);
      return done;
    },
    deliver: (webhookId, state, { statuses = [], event = 'cdrCreated', ...given } = {}) => {
      const status = statuses.at(-1);
      const result = status === undefined ? {} : { status };
      store.deliveries.push({
        webhookId,
        state,
        event,
        ...given,
        ...result,
        createdAt: new Date(),
      });
      return done;
    },
    missedEvent: (webhookId) => {
      store.missed.push({ webhookId, createdAt: new Date() });
      return done;
    },
    complete: (id) => {
      store.all.find((replay) => replay.id === id)!.state = 'completed';
      return done;
    },
  });
});
