import { FakeDeliveryStore } from '../../deliveries/domain/delivery-store.fake.js';
import { eventsContract } from './events.contract.js';
import { FakeEventReader, FakeEventStore } from './events.fake.js';

const deliveries = new FakeDeliveryStore();
const store = new FakeEventStore(deliveries);
const reader = new FakeEventReader(store);

eventsContract({
  store: () => store,
  reader: () => reader,
  deliveries: () => deliveries,
  anAccount: (subscriptions = 0) => {
    const id = String(store.accounts.size + 1);
    const webhookIds = Array.from(
      { length: subscriptions },
      (_, index) => `${id}-${String(index)}`,
    );
    store.accounts.set(id, webhookIds);
    return Promise.resolve(id);
  },
});
