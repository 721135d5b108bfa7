import { eventsContract } from './events.contract.js';
import { FakeEventReader, FakeEventStore } from './events.fake.js';

const store = new FakeEventStore();
const reader = new FakeEventReader(store);

eventsContract({
  store: () => store,
  reader: () => reader,
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
