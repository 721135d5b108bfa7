import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { AuditTrail } from './audit-trail.js';
import type { Transactions } from './transactions.js';

/** An audit under test. */
export interface AuditTrailUnderTest {
  audit: () => AuditTrail;
  transactions: () => Transactions;
}

/** What every implementation of {@link AuditTrail} must do. */
export function auditTrailContract({ audit, transactions }: AuditTrailUnderTest): void {
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
}
