import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Page } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { Application, type ApplicationContent } from '../domain/application.js';
import { ApplicationsRepository } from '../domain/applications.repository.js';

/** Applications in PostgreSQL. */
@Injectable()
export class TypeOrmApplicationsRepository extends ApplicationsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async find(
    accountId: string,
    id: string,
    { lock } = { lock: false },
  ): Promise<Application | undefined> {
    const found = await this.transactions.use((manager) =>
      manager.findOne(Application, {
        where: { id, userId: accountId, deletedAt: IsNull() },
        // This lock still allows foreign keys to refer to the row.
        ...(lock && { lock: { mode: 'for_no_key_update' as const } }),
      }),
    );
    return found ?? undefined;
  }

  list(accountId: string, page: Page): Promise<Application[]> {
    return this.transactions.page(Application, page, { userId: accountId, deletedAt: IsNull() });
  }

  async add(accountId: string, content: ApplicationContent): Promise<string> {
    const row = { userId: accountId, ...content };
    const { identifiers } = await this.transactions.use((manager) =>
      manager.insert(Application, row),
    );
    return (identifiers[0] as { id: string }).id;
  }

  async revise(id: string, revision: Partial<ApplicationContent>): Promise<void> {
    await this.transactions.use((manager) =>
      manager.update(Application, id, {
        ...revision,
        version: () => 'version + 1',
        updatedAt: () => 'now()',
      }),
    );
  }

  async remove(id: string): Promise<void> {
    await this.transactions.use((manager) =>
      manager.update(Application, id, { deletedAt: () => 'now()' }),
    );
  }
}
