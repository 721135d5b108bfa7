import type { Page } from '#libs/kernel';
import type { User } from './user.js';

/** A user to be stored; the store gives it an id and its join date. */
export type NewUser = Omit<User, 'id' | 'joinDate'>;

/** Where users are kept. */
export abstract class UsersRepository {
  abstract findById(id: string): Promise<User | undefined>;
  abstract findByUsername(username: string): Promise<User | undefined>;
  /** In ascending order of id. */
  abstract page(page: Page): Promise<User[]>;
  /** @throws UsernameTaken */
  abstract insert(user: NewUser): Promise<User>;
  /** Keeps others who hold it waiting until the transaction ends. */
  abstract hold(id: string): Promise<void>;
  /** @returns whether it had another one */
  abstract setStatus(id: string, status: User['status']): Promise<boolean>;
}
