import type { Page } from '#libs/kernel';
import type { Application, ApplicationContent, NewContent } from './application.js';

/** Stores applications. No method finds deleted ones. */
export abstract class ApplicationsRepository {
  /** @param options `lock`: locks the application until the transaction ends */
  abstract find(
    accountId: string,
    id: string,
    options?: { lock: boolean },
  ): Promise<Application | undefined>;

  /** In ascending order of id. */
  abstract list(accountId: string, page: Page): Promise<Application[]>;

  /** @returns the id */
  abstract add(accountId: string, content: NewContent): Promise<string>;

  /** Stores new values and increments the version. */
  abstract revise(id: string, revision: Partial<ApplicationContent>): Promise<void>;

  abstract remove(id: string): Promise<void>;
}

/** An application from before environments existed, imported with the command line. */
export interface ImportedApplication extends NewContent {
  /** Keeps a customer's addresses valid; by default the next free id. */
  id?: string;
  userId: string;
  partition: string | null;
}

/** Stores imported applications, inside one transaction. */
export abstract class ApplicationImports {
  /** Prevents others from adding applications until the transaction ends. */
  abstract begin(): Promise<void>;

  /** @returns the ids that an application has or had */
  abstract takenIds(ids: readonly string[]): Promise<Set<string>>;

  /** @returns the ids that belong to accounts */
  abstract knownAccounts(ids: readonly string[]): Promise<Set<string>>;

  /**
   * Stores all applications. New ids are then higher than theirs.
   * @returns the id and the account of each
   */
  abstract addAll(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]>;
}
