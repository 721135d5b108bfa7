import { Transactions } from './transactions.js';

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
