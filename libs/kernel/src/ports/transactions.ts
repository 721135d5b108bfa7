/**
 * Lets several repositories, of several contexts, work in one transaction without knowing of it: what they
 * do while the work of {@link run} is under way belongs to it.
 */
export abstract class Transactions {
  /**
   * Runs `work` in a transaction, or in the one that is under way. Work that lost against a concurrent
   * transaction (serialisation, deadlock) is done again, so it must not leave traces outside the database,
   * except through {@link afterCommit}.
   * @throws UnavailableError when the database cannot be reached
   */
  abstract run<Result>(work: () => Promise<Result>): Promise<Result>;

  /** Does what must not happen before others can see the changes; at once where nothing is under way. */
  abstract afterCommit(work: () => void): void;
}
