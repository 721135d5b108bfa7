import { describe } from 'vitest';
import { auditTrailContract, transactionsContract } from './ports.contract.js';
import { FakeAuditTrail, FakeTransactions } from './ports.fake.js';

const transactions = new FakeTransactions();

describe('fake transactions', () => transactionsContract(() => transactions));

describe('the fake audit', () => {
  const audit = new FakeAuditTrail(transactions);
  let users = 0;
  const aUser = () => Promise.resolve(String((users += 1)));
  auditTrailContract({ audit: () => audit, transactions: () => transactions, aUser });
});
