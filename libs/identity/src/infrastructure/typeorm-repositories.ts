import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { Page } from '#libs/kernel';
import { codeOf, statement, TypeOrmTransactions } from '#libs/runtime';
import { Credential, CredentialsRepository, type NewCredential } from '../domain/credential.js';
import {
  Environment,
  EnvironmentsRepository,
  type NewEnvironment,
} from '../domain/environments.service.js';
import { EnvironmentIdTakenError, UsernameTakenError } from '../domain/identity-errors.js';
import { type NewUser, STATUSES, User, UsersRepository } from '../domain/user.js';

/** Serialises changes of what belongs to a user. This lock still allows foreign keys to refer to the row. */
export const LOCK_USER = statement<{ id: string }>(
  'SELECT FROM users WHERE id = @id FOR NO KEY UPDATE',
);

export const RAISE_USER_IDS = statement('SELECT raise_user_ids()');

const UNIQUE_VIOLATION = '23505';

@Injectable()
export class TypeOrmUsersRepository implements UsersRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  findById(id: string): Promise<User | undefined> {
    return this.findOne({ id });
  }

  findByUsername(username: string): Promise<User | undefined> {
    return this.findOne({ username });
  }

  page(page: Page): Promise<User[]> {
    return this.transactions.page(User, page);
  }

  async insert(user: NewUser): Promise<User> {
    const stored = Object.assign(new User(), user);
    try {
      // insert() adds the values from the database: the id and the join date.
      await this.transactions.use((manager) => manager.insert(User, stored));
      return stored;
    } catch (error) {
      throw codeOf(error) === UNIQUE_VIOLATION ? new UsernameTakenError() : error;
    }
  }

  async raiseIds(): Promise<void> {
    await this.transactions.query(RAISE_USER_IDS);
  }

  async lock(id: string): Promise<void> {
    await this.transactions.query(LOCK_USER, { id });
  }

  async setStatus(id: string, status: User['status']): Promise<boolean> {
    const before = In(STATUSES.filter((one) => one !== status));
    const { affected } = await this.transactions.use((manager) =>
      manager.update(User, { id, status: before }, { status }),
    );
    return affected === 1;
  }

  private async findOne(where: { id: string } | { username: string }): Promise<User | undefined> {
    const found = await this.transactions.use((manager) => manager.findOneBy(User, where));
    return found ?? undefined;
  }
}

@Injectable()
export class TypeOrmCredentialsRepository implements CredentialsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  findByUser(userId: string): Promise<Credential[]> {
    return this.transactions.use((manager) =>
      manager.find(Credential, { where: { userId }, order: { id: 'ASC' } }),
    );
  }

  async insert(credential: NewCredential): Promise<Credential> {
    const stored = Object.assign(new Credential(), credential);
    // insert() adds the values from the database: the id and the time.
    await this.transactions.use((manager) => manager.insert(Credential, stored));
    return stored;
  }

  async remove(userId: string, id: string): Promise<boolean> {
    const { affected } = await this.transactions.use((manager) =>
      manager.delete(Credential, { id, userId }),
    );
    return affected === 1;
  }

  async removeAll(userId: string): Promise<void> {
    await this.transactions.use((manager) => manager.delete(Credential, { userId }));
  }
}

@Injectable()
export class TypeOrmEnvironmentsRepository implements EnvironmentsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async findById(id: string): Promise<Environment | undefined> {
    const found = await this.transactions.use((manager) => manager.findOneBy(Environment, { id }));
    return found ?? undefined;
  }

  page(page: Page): Promise<Environment[]> {
    return this.transactions.page(Environment, page);
  }

  async insert(environment: NewEnvironment): Promise<Environment> {
    for (;;) {
      const id = await this.insertUnlessTaken(environment);
      if (id !== undefined) return Object.assign(new Environment(), environment, { id });
      if (environment.id !== undefined) throw new EnvironmentIdTakenError();
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
