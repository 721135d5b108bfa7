import type { Page } from '#libs/kernel';
import type { Application, ApplicationContent } from './application.js';

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
  abstract add(accountId: string, content: ApplicationContent): Promise<string>;

  /** Stores new values and increments the version. */
  abstract revise(id: string, revision: Partial<ApplicationContent>): Promise<void>;

  abstract remove(id: string): Promise<void>;
}
