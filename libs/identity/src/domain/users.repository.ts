import type { Page } from '#libs/kernel';
import type { User } from './user.js';

/** A user to store. The store adds the id and the join date, unless the user was created elsewhere. */
export type NewUser = Omit<User, 'id' | 'joinDate'> & Partial<Pick<User, 'id' | 'joinDate'>>;

/** Stores users. */
export abstract class UsersRepository {
  abstract findById(id: string): Promise<User | undefined>;
  abstract findByUsername(username: string): Promise<User | undefined>;
  /** In ascending order of id. */
  abstract page(page: Page): Promise<User[]>;
  /** @throws UsernameTaken, also if the id is taken */
  abstract insert(user: NewUser): Promise<User>;
  /** Makes later ids higher than those of all users. */
  abstract raiseIds(): Promise<void>;
  /** Locks the user's row until the transaction ends. */
  abstract lock(id: string): Promise<void>;
  /** @returns whether the status changed */
  abstract setStatus(id: string, status: User['status']): Promise<boolean>;
}
