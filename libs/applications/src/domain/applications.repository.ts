import type { Page } from '#libs/kernel';
import type { Application, ApplicationContent } from './application.js';

/** Where applications are kept. Deleted ones are found by none of these. */
export abstract class ApplicationsRepository {
  /** @param hold keeps others from changing it until the transaction ends */
  abstract find(
    accountId: string,
    id: string,
    options?: { hold: boolean },
  ): Promise<Application | undefined>;

  /** In ascending order of id. */
  abstract list(accountId: string, page: Page): Promise<Application[]>;

  /** @returns its id */
  abstract add(accountId: string, content: ApplicationContent): Promise<string>;

  /** Stores new values and raises the version. */
  abstract revise(id: string, revision: Partial<ApplicationContent>): Promise<void>;

  abstract remove(id: string): Promise<void>;
}
