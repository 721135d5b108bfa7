import { describe } from 'vitest';
import { FakeTransactions } from '../../../kernel/src/ports.fake.js';
import {
  applicationImportsContract,
  applicationsRepositoryContract,
} from './applications.repository.contract.js';
import { FakeApplicationImports, FakeApplicationsRepository } from './applications.fake.js';

const transactions = new FakeTransactions();
const applications = new FakeApplicationsRepository();
const imports = new FakeApplicationImports(applications);
let lastAccount = 0;
const anAccount = (): Promise<string> => {
  const id = String((lastAccount += 1));
  imports.accounts.add(id);
  return Promise.resolve(id);
};

describe('fake applications', () =>
  applicationsRepositoryContract({
    applications: () => applications,
    transactions: () => transactions,
    anAccount,
  }));

describe('fake imports', () =>
  applicationImportsContract({
    imports: () => imports,
    transactions: () => transactions,
    anAccount,
  }));
