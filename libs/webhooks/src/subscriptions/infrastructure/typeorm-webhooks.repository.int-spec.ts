import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll } from 'vitest';
import { Transactions } from '#libs/kernel';
import { contextOf } from '../../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { anAccount, anApplication } from '../../../../../test/support/rows.js';
import { WebhooksRepository } from '../domain/webhooks.repository.js';
import { webhooksRepositoryContract } from '../domain/webhooks.repository.contract.js';
import { SubscriptionsModule } from '../subscriptions.module.js';

let database: TestDatabase;
let context: INestApplicationContext;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [SubscriptionsModule]);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

webhooksRepositoryContract({
  webhooks: () => context.get(WebhooksRepository, { strict: false }),
  transactions: () => context.get(Transactions, { strict: false }),
  anAccount: () => anAccount(database),
  anApplication: (accountId) => anApplication(database, accountId),
});
