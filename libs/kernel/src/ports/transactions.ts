/**
 * Lets repositories of several contexts share a transaction without passing it around: everything they do
 * inside the work of {@link run} belongs to it.
 */
export abstract class Transactions {
  /**
   * Runs `work` in the current transaction, or in a new one. After a conflict with a concurrent transaction
   * (serialisation failure, deadlock) the work is repeated, so it must have no effects outside the database
   * except through {@link afterCommit}.
   * @throws UnavailableError when the database cannot be reached
   */
  abstract run<Result>(work: () => Promise<Result>): Promise<Result>;

  /** Runs work that must wait until others can see the changes; outside a transaction, at once. */
  abstract afterCommit(work: () => void): void;
}
