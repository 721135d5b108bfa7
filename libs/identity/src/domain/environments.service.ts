import { Injectable } from '@nestjs/common';
import { AuditTrail, isNumericId, NotFoundError, type Page, Transactions } from '#libs/kernel';
import type { Environment } from './environment.js';
import { EnvironmentsRepository, type NewEnvironment } from './environments.repository.js';

/** The environments of the installation. */
@Injectable()
export class EnvironmentsService {
  constructor(
    private readonly environments: EnvironmentsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Whether there is an environment with this id; a malformed id has none. */
  async exists(id: string): Promise<boolean> {
    return isNumericId(id) && (await this.environments.findById(id)) !== undefined;
  }

  /** @throws NotFoundError */
  async get(id: string): Promise<Environment> {
    const found = isNumericId(id) ? await this.environments.findById(id) : undefined;
    if (!found) throw new NotFoundError('environment');
    return found;
  }

  list(page: Page): Promise<Environment[]> {
    return this.environments.page(page);
  }

  /** @throws EnvironmentIdTaken */
  create(environment: NewEnvironment): Promise<Environment> {
    return this.transactions.run(async () => {
      const created = await this.environments.insert(environment);
      await this.audit.record({
        action: 'environment.create',
        resourceId: created.id,
        accountId: null,
      });
      return created;
    });
  }
}
