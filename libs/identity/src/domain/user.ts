import { randomBytes } from 'node:crypto';
import { type Page, requireValid, storableText, string } from '#libs/kernel';
import type { Role } from './access.js';

/** A locked user's credentials are refused; events of the account are still delivered. */
export const STATUSES = ['active', 'locked'] as const;
export type Status = (typeof STATUSES)[number];

/**
 * `closing`: nobody can log in as the user any more, and its account's data is being removed. `closed`: it has been
 * removed. The row stays, so that the id is never given again.
 */
export const USER_STATUSES = [...STATUSES, 'closing', 'closed'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** The length of a user's salt. */
export const SALT_BYTES = 16;

/** A user. Each user is an account. */
export class User {
  /** A string of digits; set when it is stored. */
  id!: string;
  username!: string;
  role!: Role;
  status!: UserStatus;
  /** Shared by all passwords of the user, so that one computation checks all of them. */
  salt!: Buffer;
  joinDate!: Date;
}

const USERNAME = /^[A-Za-z][A-Za-z0-9._@-]{0,63}$/;

/** Whether the text is a valid username. Usernames start with a letter, so they are never ids. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

/** A username in a request. */
export const usernameValidator = string().and(
  'format',
  'must be a letter and up to 63 more letters, digits or the characters . _ @ -',
  isUsername,
  { pattern: USERNAME.source },
);

/** @throws ValidationError unless the text is a valid username */
export function requireUsername(text: string): void {
  requireValid('username', text, usernameValidator);
}

export const PASSWORD_MAX = 200;
const PASSWORD_MIN = 8;

/** A password in a request. */
export const passwordValidator = storableText(PASSWORD_MAX, PASSWORD_MIN);

/** @throws ValidationError unless the text is a valid password */
export function requirePassword(text: string): void {
  requireValid('password', text, passwordValidator);
}

/** 144 bits in 24 characters that need no quoting anywhere. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}

/** A user to store. The store adds the id and the join date, unless the user was created elsewhere. */
export type NewUser = Omit<User, 'id' | 'joinDate'> & Partial<Pick<User, 'id' | 'joinDate'>>;

/** Stores users. */
export abstract class UsersRepository {
  abstract findById(id: string): Promise<User | undefined>;
  abstract findByUsername(username: string): Promise<User | undefined>;
  /** In ascending order of id. */
  abstract page(page: Page): Promise<User[]>;
  /** @throws UsernameTakenError, also if the id is taken */
  abstract insert(user: NewUser): Promise<User>;
  /** Makes later ids higher than those of all users. */
  abstract raiseIds(): Promise<void>;
  /** Locks the user's row until the transaction ends. */
  abstract lock(id: string): Promise<void>;
  /**
   * A user that is being closed, or is closed, keeps its status.
   * @returns whether the status changed
   */
  abstract setStatus(id: string, status: User['status']): Promise<boolean>;
}
