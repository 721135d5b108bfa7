import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Actor, actAs } from './actor.js';
import type { AuditTrail, Transactions } from './ports.js';

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

/** An audit under test. */
interface AuditTrailUnderTest {
  audit: () => AuditTrail;
  transactions: () => Transactions;
  /** @returns the id of a user */
  aUser: () => Promise<string>;
}

/** What every implementation of {@link AuditTrail} must do. */
export function auditTrailContract({ audit, transactions, aUser }: AuditTrailUnderTest): void {
  const change = { action: 'thing.change', resourceId: '7' } as const;
  const record = (...resourceIds: string[]) =>
    transactions().run(() =>
      audit().record(
        ...resourceIds.map((resourceId) => ({ ...change, resourceId, accountId: null })),
      ),
    );

  it('records nothing outside a transaction', async () => {
    await expect(audit().record({ ...change, accountId: null })).rejects.toThrow('transaction');
  });

  it('tells how long until a resource has had fewer changes', async () => {
    const withinMs = 60_000;
    const wait = (times: number, what: Parameters<AuditTrail['msUntilFewer']>[0] = change) =>
      audit().msUntilFewer(what, { times, withinMs });
    expect(await wait(1)).toBe(0);
    await record('7', '8');
    await record('7');
    expect(await wait(3)).toBe(0);
    expect(await wait(2)).toBeGreaterThan(withinMs - 30_000);
    expect(await wait(2)).toBeLessThanOrEqual(withinMs);
    expect(await wait(2, { ...change, resourceId: '8' })).toBe(0);
    expect(await wait(1, { ...change, action: 'thing.delete' })).toBe(0);
    await sleep(20);
    expect(await audit().msUntilFewer(change, { times: 1, withinMs: 1 })).toBe(0);
  });

  it('counts the entries of one user from one address', async () => {
    const [userId, other] = [await aUser(), await aUser()];
    const one = { name: 'someone', userId, address: '192.0.2.1' };
    await actAs(one, () => record('9'));
    const wait = (by?: Actor) =>
      audit().msUntilFewer(
        { ...change, resourceId: '9', ...(by && { by }) },
        { times: 1, withinMs: 60_000 },
      );
    expect(await wait()).toBeGreaterThan(0);
    expect(await wait(one)).toBeGreaterThan(0);
    expect(await wait({ ...one, userId: other })).toBe(0);
    expect(await wait({ ...one, address: '192.0.2.2' })).toBe(0);
    expect(await wait({ ...one, address: undefined })).toBe(0);
  });
}
