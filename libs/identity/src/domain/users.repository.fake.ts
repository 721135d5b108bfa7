import type { Page } from '#libs/kernel';
import { UsernameTaken } from './identity-errors.js';
import { User } from './user.js';
import { type NewUser, UsersRepository } from './users.repository.js';

/** Users in memory, ids from 1. */
export class FakeUsersRepository extends UsersRepository {
  readonly all: User[] = [];
  private nextId = 1;
  /** The ids that were locked, in order. */
  readonly locked: string[] = [];

  override findById(id: string): Promise<User | undefined> {
    return Promise.resolve(this.all.find((user) => user.id === id));
  }

  override findByUsername(username: string): Promise<User | undefined> {
    return Promise.resolve(this.all.find((user) => user.username === username));
  }

  override page({ after = '0', limit }: Page): Promise<User[]> {
    const later = this.all.filter(({ id }) => Number(id) > Number(after));
    return Promise.resolve(later.slice(0, limit));
  }

  override insert(user: NewUser): Promise<User> {
    if (this.all.some(({ username }) => username === user.username)) {
      return Promise.reject(new UsernameTaken());
    }
    const { id = String(this.nextId++), joinDate = new Date() } = user;
    const stored = Object.assign(new User(), user, { id, joinDate });
    this.all.push(stored);
    return Promise.resolve(stored);
  }

  override raiseIds(): Promise<void> {
    this.nextId = Math.max(...this.all.map(({ id }) => Number(id)), 0) + 1;
    return Promise.resolve();
  }

  override lock(id: string): Promise<void> {
    this.locked.push(id);
    return Promise.resolve();
  }

  override setStatus(id: string, status: User['status']): Promise<boolean> {
    const user = this.all.find((one) => one.id === id);
    if (!user || user.status === status) return Promise.resolve(false);
    user.status = status;
    return Promise.resolve(true);
  }
}
