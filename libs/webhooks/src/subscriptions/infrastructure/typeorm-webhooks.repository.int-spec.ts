import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Transactions } from '#libs/kernel';
import { contextOf } from '../../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { anAccount, anApplication, aSubscription } from '../../../../../test/support/rows.js';
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

it('notes the features that subscriptions use, which versions have to know', async () => {
  await database.query('DELETE FROM features');
  const webhooks = context.get(WebhooksRepository, { strict: false });
  const used = async () => {
    const rows = await database.query<{ name: string }>('SELECT name FROM features ORDER BY name');
    return rows.map(({ name }) => name);
  };
  const id = await aSubscription(database, await anAccount(database));
  await webhooks.revise(id, { ordered: false, maxPerSecond: null, name: 'plain' });
  expect(await used()).toEqual([]);
  await webhooks.revise(id, { ordered: true, maxPerSecond: 3 });
  await webhooks.revise(id, { ordered: true, maxPerSecond: null });
  expect(await used()).toEqual(['maxPerSecond', 'ordered']);
});
