import { Injectable } from '@nestjs/common';
import type { Page } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { Environment } from '../domain/environment.js';
import { EnvironmentsRepository, type NewEnvironment } from '../domain/environments.repository.js';
import { EnvironmentIdTaken } from '../domain/identity-errors.js';

@Injectable()
export class TypeOrmEnvironmentsRepository extends EnvironmentsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async findById(id: string): Promise<Environment | undefined> {
    const found = await this.transactions.use((manager) => manager.findOneBy(Environment, { id }));
    return found ?? undefined;
  }

  override page(page: Page): Promise<Environment[]> {
    return this.transactions.page(Environment, page);
  }

  override async insert(environment: NewEnvironment): Promise<Environment> {
    for (;;) {
      const id = await this.insertUnlessTaken(environment);
      if (id !== undefined) return Object.assign(new Environment(), environment, { id });
      if (environment.id !== undefined) throw new EnvironmentIdTaken();
      // The sequence returned an id that a client had chosen; try its next number.
    }
  }

  private async insertUnlessTaken(environment: NewEnvironment): Promise<string | undefined> {
    const result = await this.transactions.use((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(Environment)
        .values({ ...environment })
        .orIgnore()
        .updateEntity(false)
        .returning('id')
        .execute(),
    );
    return (result.raw as { id: string }[])[0]?.id;
  }
}
