import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe } from 'vitest';
import { Transactions } from '#libs/kernel';
import { contextOf } from '../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAccount } from '../../../../test/support/rows.js';
import { ApplicationImports, ApplicationsRepository } from '../domain/applications.repository.js';
import {
  applicationImportsContract,
  applicationsRepositoryContract,
} from '../domain/applications.repository.contract.js';
import { ApplicationsModule } from '../applications.module.js';

let database: TestDatabase;
let context: INestApplicationContext;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [ApplicationsModule]);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

const common = {
  transactions: () => context.get(Transactions, { strict: false }),
  anAccount: () => anAccount(database),
};

describe('applications in PostgreSQL', () =>
  applicationsRepositoryContract({
    ...common,
    applications: () => context.get(ApplicationsRepository, { strict: false }),
  }));

describe('imports into PostgreSQL', () =>
  applicationImportsContract({
    ...common,
    imports: () => context.get(ApplicationImports, { strict: false }),
  }));
