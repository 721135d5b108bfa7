import type { ApplicationContent } from './application.js';

/** An application from before environments existed, as the command line brings it in. */
export interface ImportedApplication extends ApplicationContent {
  /** Chosen, so that customers keep their addresses; else the next free one. */
  id?: string;
  userId: string;
  partition: string | null;
}

/** Where imported applications go; used inside one transaction. */
export abstract class ApplicationImports {
  /** Keeps everybody else from adding applications until the transaction ends. */
  abstract begin(): Promise<void>;

  /** @returns those of the ids that an application has or had */
  abstract takenIds(ids: readonly string[]): Promise<Set<string>>;

  /** @returns those of the ids that are accounts */
  abstract knownAccounts(ids: readonly string[]): Promise<Set<string>>;

  /**
   * Stores all; ids that are given out afterwards are free and higher than these.
   * @returns the id of each and its account
   */
  abstract addAll(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]>;
}
