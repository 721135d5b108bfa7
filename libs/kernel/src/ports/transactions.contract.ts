import { expect, it } from 'vitest';
import type { Transactions } from './transactions.js';

/** What every implementation of {@link Transactions} must do. */
export function transactionsContract(transactions: () => Transactions): void {
  it('returns the result of the work', async () => {
    expect(await transactions().run(() => Promise.resolve(1))).toBe(1);
  });

  it('runs deferred work in order after the outermost transaction commits', async () => {
    const ran: string[] = [];
    const later = (what: string) => transactions().afterCommit(() => ran.push(what));
    await transactions().run(async () => {
      later('first');
      await transactions().run(() => {
        later('second');
        return Promise.resolve();
      });
      expect(ran).toEqual([]);
    });
    expect(ran).toEqual(['first', 'second']);
  });

  it('drops deferred work when the transaction fails', async () => {
    const ran: string[] = [];
    const failing = transactions().run(() => {
      transactions().afterCommit(() => ran.push('after'));
      return Promise.reject(new Error('no'));
    });
    await expect(failing).rejects.toThrow('no');
    await transactions().run(() => Promise.resolve());
    expect(ran).toEqual([]);
  });

  it('runs deferred work at once outside a transaction', () => {
    const ran: string[] = [];
    transactions().afterCommit(() => ran.push('now'));
    expect(ran).toEqual(['now']);
  });
}
