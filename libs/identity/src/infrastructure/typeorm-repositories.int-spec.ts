import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe } from 'vitest';
import { AuditTrail, Transactions } from '#libs/kernel';
import { contextOf } from '../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAccount } from '../../../../test/support/rows.js';
import { auditTrailContract, transactionsContract } from '../../../kernel/src/ports.contract.js';
import { CredentialsRepository } from '../domain/credential.js';
import {
  credentialsRepositoryContract,
  environmentsRepositoryContract,
  usersRepositoryContract,
} from '../domain/repositories.contract.js';
import { EnvironmentsRepository } from '../domain/environments.service.js';
import { UsersRepository } from '../domain/user.js';
import { IdentityModule } from '../identity.module.js';

let database: TestDatabase;
let context: INestApplicationContext;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [IdentityModule]);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

const transactions = () => context.get(Transactions, { strict: false });

describe('transactions in PostgreSQL', () => transactionsContract(transactions));

describe('the audit in PostgreSQL', () =>
  auditTrailContract({
    audit: () => context.get(AuditTrail),
    transactions,
    aUser: () => anAccount(database),
  }));

describe('users in PostgreSQL', () =>
  usersRepositoryContract(() => context.get(UsersRepository, { strict: false })));

describe('credentials in PostgreSQL', () =>
  credentialsRepositoryContract({
    credentials: () => context.get(CredentialsRepository, { strict: false }),
    aUser: () => anAccount(database),
  }));

describe('environments in PostgreSQL', () =>
  environmentsRepositoryContract(() => context.get(EnvironmentsRepository, { strict: false })));
