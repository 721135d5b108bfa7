import { Injectable } from '@nestjs/common';
import { AuditTrail, isNumericId, NotFoundError, type Page, Transactions } from '#libs/kernel';

/** The purposes of environments. */
export const ENVIRONMENT_TYPES = ['development', 'production', 'special'] as const;
export type EnvironmentType = (typeof ENVIRONMENT_TYPES)[number];

/** An environment that applications run in. */
export class Environment {
  /** A string of digits. Development is 1 and production 2 on a new installation. */
  id!: string;
  name!: string;
  type!: EnvironmentType;
  billable!: boolean;
}

/** An environment to create. Without an id, it gets the next free one. */
export type NewEnvironment = Omit<Environment, 'id'> & { id?: string };

/** Stores environments. */
export abstract class EnvironmentsRepository {
  abstract findById(id: string): Promise<Environment | undefined>;
  /** In ascending order of id. */
  abstract page(page: Page): Promise<Environment[]>;
  /** @throws EnvironmentIdTakenError */
  abstract insert(environment: NewEnvironment): Promise<Environment>;
}

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

  /** @throws EnvironmentIdTakenError */
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
