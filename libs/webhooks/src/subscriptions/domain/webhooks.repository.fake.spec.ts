import { FakeTransactions } from '../../../../kernel/src/ports.fake.js';
import { webhooksRepositoryContract } from './webhooks.repository.contract.js';
import { FakeWebhooksRepository } from './webhooks.repository.fake.js';

const webhooks = new FakeWebhooksRepository();
const transactions = new FakeTransactions();
let lastId = 0;
const anId = () => Promise.resolve(String((lastId += 1)));

webhooksRepositoryContract({
  webhooks: () => webhooks,
  transactions: () => transactions,
  anAccount: anId,
  anApplication: anId,
});
