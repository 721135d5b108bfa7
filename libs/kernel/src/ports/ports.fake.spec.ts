import { describe } from 'vitest';
import { auditTrailContract } from './audit-trail.contract.js';
import { FakeAuditTrail } from './audit-trail.fake.js';
import { transactionsContract } from './transactions.contract.js';
import { FakeTransactions } from './transactions.fake.js';

const transactions = new FakeTransactions();

describe('fake transactions', () => transactionsContract(() => transactions));

describe('the fake audit', () => {
  const audit = new FakeAuditTrail(transactions);
  auditTrailContract({ audit: () => audit, transactions: () => transactions });
});
