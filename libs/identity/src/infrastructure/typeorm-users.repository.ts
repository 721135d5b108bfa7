import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import type { Page } from '#libs/kernel';
import { codeOf, TypeOrmTransactions } from '#libs/runtime';
import { UsernameTaken } from '../domain/identity-errors.js';
import { User } from '../domain/user.js';
import { type NewUser, UsersRepository } from '../domain/users.repository.js';
import { LOCK_USER, RAISE_USER_IDS } from './user.statements.js';

const UNIQUE_VIOLATION = '23505';

@Injectable()
export class TypeOrmUsersRepository extends UsersRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override findById(id: string): Promise<User | undefined> {
    return this.findOne({ id });
  }

  override findByUsername(username: string): Promise<User | undefined> {
    return this.findOne({ username });
  }

  override page(page: Page): Promise<User[]> {
    return this.transactions.page(User, page);
  }

  override async insert(user: NewUser): Promise<User> {
    const stored = Object.assign(new User(), user);
    try {
      // insert() adds the values from the database: the id and the join date.
      await this.transactions.use((manager) => manager.insert(User, stored));
      return stored;
    } catch (error) {
      throw codeOf(error) === UNIQUE_VIOLATION ? new UsernameTaken() : error;
    }
  }

  override async raiseIds(): Promise<void> {
    await this.transactions.query(RAISE_USER_IDS);
  }

  override async lock(id: string): Promise<void> {
    await this.transactions.query(LOCK_USER, { id });
  }

  override async setStatus(id: string, status: User['status']): Promise<boolean> {
    const { affected } = await this.transactions.use((manager) =>
      manager.update(User, { id, status: Not(status) }, { status }),
    );
    return affected === 1;
  }

  private async findOne(where: { id: string } | { username: string }): Promise<User | undefined> {
    const found = await this.transactions.use((manager) => manager.findOneBy(User, where));
    return found ?? undefined;
  }
}
