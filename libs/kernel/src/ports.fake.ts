import { type Actor, currentActor } from './actor.js';
import { type AuditEntry, AuditTrail, Transactions } from './ports.js';

/** Runs work at once, one transaction at a time. Nothing is rolled back. */
export class FakeTransactions extends Transactions {
  private waiting: (() => void)[] | undefined;

  get underWay(): boolean {
    return this.waiting !== undefined;
  }

  override async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.waiting) return work();
    const waiting: (() => void)[] = (this.waiting = []);
    const result = await work().finally(() => (this.waiting = undefined));
    for (const each of waiting) each();
    return result;
  }

  override afterCommit(work: () => void): void {
    if (this.waiting) this.waiting.push(work);
    else work();
  }
}

/** An audit in memory. */
export class FakeAuditTrail extends AuditTrail {
  private readonly recorded: { entry: AuditEntry; by: Actor; at: number }[] = [];

  constructor(private readonly transactions: FakeTransactions) {
    super();
  }

  /** Oldest first. */
  get entries(): AuditEntry[] {
    return this.recorded.map(({ entry }) => entry);
  }

  override record(...entries: AuditEntry[]): Promise<void> {
    if (!this.transactions.underWay) return Promise.reject(new Error('outside a transaction'));
    const by = currentActor();
    this.recorded.push(...entries.map((entry) => ({ entry, by, at: performance.now() })));
    return Promise.resolve();
  }

  override msUntilFewer(
    { action, resourceId, by }: Parameters<AuditTrail['msUntilFewer']>[0],
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const since = performance.now() - withinMs;
    const changes = this.recorded.filter(
      ({ entry, at, by: other }) =>
        entry.action === action &&
        entry.resourceId === resourceId &&
        (!by || (other.userId === by.userId && other.address === by.address)) &&
        at >= since,
    );
    const oldest = changes.at(-times);
    return Promise.resolve(oldest ? Math.max(oldest.at - since, 1) : 0);
  }
}
