import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type AuditEntry,
  AuditTrail,
  type FieldFault,
  isNumericId,
  NotFoundError,
  type Page,
  recordFault,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { type Credential, CredentialsRepository, isExpired, requireExpiry } from './credential.js';
import { CredentialLimitReachedError, MAX_CREDENTIALS, OwnAccessError } from './identity-errors.js';
import {
  generatePassword,
  isUsername,
  requirePassword,
  requireUsername,
  type Role,
  SALT_BYTES,
  type Status,
  type User,
  UsersRepository,
} from './user.js';
import { PasswordHasher } from './password-check.js';
import type { Principal } from './logins.js';
import { Sessions } from './sessions.service.js';
import { type ImportedUser, readUsers } from './user-import.js';

interface PreparedUser extends Omit<ImportedUser, 'password'> {
  salt: Buffer;
  hash: Buffer | undefined;
}

/** Users and their credentials. A parameter `user` is an id or a username. */
@Injectable()
export class UsersService {
  constructor(
    private readonly users: UsersRepository,
    private readonly credentials: CredentialsRepository,
    private readonly sessions: Sessions,
    private readonly hasher: PasswordHasher,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Creates an active user with one credential. Without a password, generates one.
   * @returns `password` only if it was generated; it cannot be read later
   * @throws ValidationError, UsernameTakenError
   */
  async create(request: {
    username: string;
    role: Role;
    password?: string | undefined;
  }): Promise<{ user: User; password?: string }> {
    const { username, role } = request;
    requireUsername(username);
    const password = await this.hashed(request.password, randomBytes(SALT_BYTES));
    const user = await this.transactions.run(async () => {
      const stored = await this.users.insert({
        username,
        role,
        status: 'active',
        salt: password.salt,
      });
      const credential = await this.credentials.insert({
        userId: stored.id,
        hash: password.hash,
        expiresAt: null,
      });
      await this.audit.record(
        { action: 'user.create', resourceId: stored.id, accountId: stored.id },
        { action: 'credential.create', resourceId: credential.id, accountId: stored.id },
      );
      return stored;
    });
    return { user, ...password.generated };
  }

  /**
   * Prepares to import users that were created elsewhere. Hashing their passwords takes too long for a
   * transaction.
   * @returns imports all of them or none, and returns their number
   * @throws ValidationError whose faults contain a JSON Pointer, such as `/3/username`; so does the import
   */
  async prepareImport(file: unknown): Promise<() => Promise<number>> {
    const { records: users, faults } = readUsers(file);
    if (faults.length > 0) throw new ValidationError(faults);
    const prepared: PreparedUser[] = [];
    // One after the other, because the hasher refuses too many at once.
    for (const { password, ...user } of users) {
      const salt = randomBytes(SALT_BYTES);
      const hash = password === undefined ? undefined : await this.hasher.hash(password, salt);
      prepared.push({ ...user, salt, hash });
    }
    return () => this.import(prepared);
  }

  private async import(prepared: readonly PreparedUser[]): Promise<number> {
    await this.transactions.run(async () => {
      const taken = await this.takenAmong(prepared);
      if (taken.length > 0) throw new ValidationError(taken);
      for (const { hash, ...user } of prepared) {
        await this.users.insert(user);
        if (hash) await this.credentials.insert({ userId: user.id, hash, expiresAt: null });
      }
      await this.users.raiseIds();
      await this.audit.record(
        ...prepared.map(({ id }) => ({
          action: 'user.import' as const,
          resourceId: id,
          accountId: id,
        })),
      );
    });
    return prepared.length;
  }

  private async takenAmong(users: readonly PreparedUser[]): Promise<FieldFault[]> {
    const faults: FieldFault[] = [];
    for (const [index, { id, username }] of users.entries()) {
      const isTaken = (name: string) => recordFault(index, name, 'conflict', 'is taken');
      if (await this.users.findById(id)) faults.push(isTaken('id'));
      if (await this.users.findByUsername(username)) faults.push(isTaken('username'));
    }
    return faults;
  }

  findByUsername(username: string): Promise<User | undefined> {
    return isUsername(username) ? this.users.findByUsername(username) : Promise.resolve(undefined);
  }

  list(page: Page): Promise<User[]> {
    return this.users.page(page);
  }

  /**
   * Shows a user to itself or to `platform`.
   * @throws NotFoundError
   */
  async show(user: string, viewer: Principal): Promise<{ user: User; credentials: Credential[] }> {
    const found = await this.required(user);
    if (viewer.role !== 'platform' && viewer.userId !== found.id) throw new NotFoundError('user');
    return { user: found, credentials: await this.credentials.findByUser(found.id) };
  }

  /**
   * Shows one credential of a user that `viewer` may see.
   * @throws NotFoundError
   */
  async showCredential(user: string, credentialId: string, viewer: Principal): Promise<Credential> {
    const { credentials } = await this.show(user, viewer);
    const found = credentials.find(({ id }) => id === credentialId);
    if (!found) throw new NotFoundError('credential');
    return found;
  }

  /**
   * Locks a user, whose sessions end for good, or unlocks it.
   * @param status undefined changes nothing
   * @param by the acting user; absent for the command line
   * @throws NotFoundError, OwnAccessError
   */
  async setStatus(user: string, status: Status | undefined, by?: Principal): Promise<User> {
    return this.transactions.run(async () => {
      const found = await this.required(user);
      if (status === 'locked' && by?.userId === found.id) throw new OwnAccessError('lock yourself');
      if (status !== undefined && (await this.users.setStatus(found.id, status))) {
        if (status === 'locked') await this.sessions.removeOfUser(found.id);
        await this.record(status === 'locked' ? 'user.lock' : 'user.unlock', found.id);
      }
      return found;
    });
  }

  /**
   * Adds a credential to a user.
   * @param request without a password, one is generated; without a time, it never expires
   * @returns `password` only if it was generated; it cannot be read later
   * @throws NotFoundError, ValidationError, CredentialLimitReachedError
   */
  async addCredential(
    user: string,
    request: { password?: string | undefined; expiresAt?: Date | undefined } = {},
  ): Promise<{ credential: Credential; password?: string }> {
    const { password, expiresAt = null } = request;
    if (expiresAt) requireExpiry(expiresAt);
    const { id, salt } = await this.required(user);
    const { hash, generated } = await this.hashed(password, salt);
    const credential = await this.transactions.run(async () => {
      // Without a lock, because one or two too many do no harm.
      if ((await this.credentials.findByUser(id)).length >= MAX_CREDENTIALS) {
        throw new CredentialLimitReachedError();
      }
      const stored = await this.credentials.insert({ userId: id, hash, expiresAt });
      await this.record('credential.create', id, stored.id);
      return stored;
    });
    return { credential, ...generated };
  }

  /**
   * Removes a credential, even the user's last one, which leaves the user unable to log in. Only the acting
   * user's own last valid credential cannot be removed.
   * @param by the acting user; absent for the command line
   * @throws NotFoundError, OwnAccessError
   */
  async removeCredential(user: string, credentialId: string, by?: Principal): Promise<void> {
    const { id } = await this.required(user);
    const isOwn = by?.userId === id;
    await this.transactions.run(async () => {
      // Without the lock, two concurrent removals could each count on the other credential.
      if (isOwn) await this.users.lock(id);
      const removed =
        isNumericId(credentialId) && (await this.credentials.remove(id, credentialId));
      if (!removed) throw new NotFoundError('credential');
      const isLast = isOwn && (await this.credentials.findByUser(id)).every(isExpired);
      if (isLast) throw new OwnAccessError('revoke your own last credential');
      await this.record('credential.delete', id, credentialId);
    });
  }

  private record(action: AuditEntry['action'], accountId: string, resourceId = accountId) {
    return this.audit.record({ action, resourceId, accountId });
  }

  private async required(user: string): Promise<User> {
    const found = isNumericId(user)
      ? await this.users.findById(user)
      : await this.findByUsername(user);
    if (!found) throw new NotFoundError('user');
    return found;
  }

  private async hashed(given: string | undefined, salt: Buffer) {
    const password = given ?? generatePassword();
    requirePassword(password);
    const hash = await this.hasher.hash(password, salt);
    return { hash, salt, generated: given === undefined ? { password } : {} };
  }
}
