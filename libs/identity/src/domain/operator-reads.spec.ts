import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import type { Principal } from './logins.js';
import { OperatorReads } from './operator-reads.js';
import { FakeUsersRepository } from './repositories.fake.js';

const OPERATOR: Principal = { userId: '7', username: 'operator', role: 'operator', scope: 'read' };
const FROM = { name: 'operator', userId: '7', address: '192.0.2.1' };

let audit: FakeAuditTrail;
let reads: OperatorReads;
let accountId: string;

beforeEach(async () => {
  vi.useFakeTimers();
  const [users, transactions] = [new FakeUsersRepository(), new FakeTransactions()];
  audit = new FakeAuditTrail(transactions);
  reads = new OperatorReads(transactions, audit, users);
  const customer = { username: 'customer', role: 'account', status: 'active' } as const;
  accountId = (await users.insert({ ...customer, salt: Buffer.alloc(16) })).id;
});
afterEach(() => vi.useRealTimers());

const read = (resourceId: string, by = FROM) =>
  reads.record(OPERATOR, by, { action: 'webhook.show', resourceId, accountId });

const noted = () => audit.entries.map(({ resourceId }) => resourceId);

it('records what an operator reads once in half an hour', async () => {
  await read('1');
  await read('2');
  vi.advanceTimersByTime(29 * 60_000);
  await read('1');
  expect(noted()).toEqual(['1', '2']);
  vi.advanceTimersByTime(2 * 60_000);
  await read('1');
  await read('1');
  expect(noted()).toEqual(['1', '2', '1']);
});

it('records a read from another address, or by another user', async () => {
  await read('1');
  await read('1', { ...FROM, address: '192.0.2.2' });
  await read('1', { ...FROM, userId: '8' });
  expect(noted()).toEqual(['1', '1', '1']);
});
