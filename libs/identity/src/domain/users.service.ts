import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type AuditEntry,
  AuditTrail,
  ForbiddenError,
  isNumericId,
  NotFoundError,
  type Page,
  Transactions,
} from '#libs/kernel';
import { type CredentialScope, isOperator, type Role } from './access.js';
import { AccountClosings, type AccountRemains } from './account-closings.js';
import {
  type Credential,
  CredentialsRepository,
  firstCredential,
  managesNow,
  requireCredentialName,
  requireExpiry,
} from './credential.js';
import {
  CredentialLimitReachedError,
  MAX_CREDENTIALS,
  OwnAccessError,
  UserClosedError,
} from './identity-errors.js';
import {
  generatePassword,
  isUsername,
  requirePassword,
  requireUsername,
  SALT_BYTES,
  type Status,
  type User,
  UsersRepository,
} from './user.js';
import { PasswordHasher } from './password-check.js';
import type { ActingUser } from './logins.js';
import { Sessions } from './sessions.service.js';

/** A credential to add. Without a password, one is generated; without a time, it never expires. */
export interface CredentialRequest {
  password?: string | undefined;
  name?: string | undefined;
  /** `manage` by default. */
  scope?: CredentialScope | undefined;
  expiresAt?: Date | undefined;
}

/**
 * Users and their credentials. A parameter `user` is an id or a username; `by` is the acting user, absent for the
 * command line, which may do everything.
 */
@Injectable()
export class UsersService {
  constructor(
    private readonly users: UsersRepository,
    private readonly credentials: CredentialsRepository,
    private readonly sessions: Sessions,
    private readonly hasher: PasswordHasher,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly closings: AccountClosings,
  ) {}

  /**
   * Creates an active user with one credential. Without a password, generates one.
   * @returns `password` only if it was generated; it cannot be read later
   * @throws ValidationError, UsernameTakenError; ForbiddenError for a role that `by` cannot give
   */
  async create(
    request: { username: string; role: Role; password?: string | undefined },
    by?: ActingUser,
  ): Promise<{ user: User; password?: string }> {
    const { username, role } = request;
    requireMayManage(role, by);
    requireUsername(username);
    const password = await this.hashed(request.password, randomBytes(SALT_BYTES));
    const user = await this.transactions.run(async () => {
      const stored = await this.users.insert({
        username,
        role,
        status: 'active',
        salt: password.salt,
      });
      const credential = await this.credentials.insert(firstCredential(stored.id, password.hash));
      await this.audit.record(
        { action: 'user.create', resourceId: stored.id, accountId: stored.id },
        { action: 'credential.create', resourceId: credential.id, accountId: stored.id },
      );
      return stored;
    });
    return { user, ...password.generated };
  }

  findByUsername(username: string): Promise<User | undefined> {
    return isUsername(username) ? this.users.findByUsername(username) : Promise.resolve(undefined);
  }

  list(page: Page): Promise<User[]> {
    return this.users.page(page);
  }

  /**
   * Shows a user to itself or to an operator.
   * @returns `remains` while the user is being closed
   * @throws NotFoundError
   */
  async show(
    user: string,
    by: ActingUser,
  ): Promise<{ user: User; credentials: Credential[]; remains?: AccountRemains }> {
    const found = await this.visible(user, by);
    return {
      user: found,
      credentials: await this.credentials.findByUser(found.id),
      ...(found.status === 'closing' && { remains: await this.closings.remains(found.id) }),
    };
  }

  /**
   * Shows one credential of a user that `by` may see.
   * @throws NotFoundError
   */
  async showCredential(user: string, credentialId: string, by: ActingUser): Promise<Credential> {
    const { credentials } = await this.show(user, by);
    const found = credentials.find(({ id }) => id === credentialId);
    if (!found) throw new NotFoundError('credential');
    return found;
  }

  /**
   * Locks a user, whose sessions end for good, or unlocks it.
   * @param status undefined changes nothing
   * @throws NotFoundError, ForbiddenError, OwnAccessError, UserClosedError
   */
  async setStatus(user: string, status: Status | undefined, by?: ActingUser): Promise<User> {
    return this.transactions.run(async () => {
      const found = await this.changeable(user, by);
      refuseClosed(found);
      if (status === 'locked' && by?.userId === found.id) throw new OwnAccessError('lock yourself');
      if (status !== undefined && (await this.users.setStatus(found.id, status))) {
        if (status === 'locked') await this.sessions.removeOfUser(found.id);
        await this.record(status === 'locked' ? 'user.lock' : 'user.unlock', found.id);
      }
      return found;
    });
  }

  /**
   * Closes a user's account for good: at once, its logins and sessions end, and so does what other contexts do for it.
   * Its data is removed later, and then its name is free. Does nothing if it is closed.
   * @throws NotFoundError, ForbiddenError, OwnAccessError
   */
  async close(user: string, by?: ActingUser): Promise<User> {
    return this.transactions.run(async () => {
      const found = await this.changeable(user, by);
      if (by?.userId === found.id) throw new OwnAccessError('close your own account');
      if (await this.users.setStatus(found.id, 'closing')) {
        await this.sessions.removeOfUser(found.id);
        await this.credentials.removeAll(found.id);
        await this.closings.end(found.id);
        await this.record('user.close', found.id);
        return Object.assign(found, { status: 'closing' as const });
      }
      return found;
    });
  }

  /**
   * Adds a credential to a user.
   * @returns `password` only if it was generated; it cannot be read later
   * @throws NotFoundError, ForbiddenError, UserClosedError, ValidationError, CredentialLimitReachedError
   */
  async addCredential(
    user: string,
    request: CredentialRequest = {},
    by?: ActingUser,
  ): Promise<{ credential: Credential; password?: string }> {
    const { password, name = null, scope = 'manage', expiresAt = null } = request;
    if (name !== null) requireCredentialName(name);
    if (expiresAt) requireExpiry(expiresAt);
    const found = await this.changeable(user, by);
    refuseClosed(found);
    const { id, salt } = found;
    const { hash, generated } = await this.hashed(password, salt);
    const credential = await this.transactions.run(async () => {
      // Without the lock, concurrent requests would exceed the limit.
      await this.users.lock(id);
      if ((await this.credentials.findByUser(id)).length >= MAX_CREDENTIALS) {
        throw new CredentialLimitReachedError();
      }
      const stored = await this.credentials.insert({ userId: id, hash, name, scope, expiresAt });
      await this.record('credential.create', id, stored.id);
      return stored;
    });
    return { credential, ...generated };
  }

  /**
   * Removes a credential, even the user's last one, which leaves the user unable to log in. Only the acting
   * user's own last valid credential with the scope `manage` cannot be removed.
   * @throws NotFoundError, ForbiddenError, OwnAccessError
   */
  async removeCredential(user: string, credentialId: string, by?: ActingUser): Promise<void> {
    const { id } = await this.changeable(user, by);
    await this.transactions.run(async () => {
      if (by?.userId === id) await this.requireOther(id, credentialId);
      const removed =
        isNumericId(credentialId) && (await this.credentials.remove(id, credentialId));
      if (!removed) throw new NotFoundError('credential');
      await this.record('credential.delete', id, credentialId);
    });
  }

  /** @throws OwnAccessError if the user could change nothing more without a credential. Locks the user. */
  private async requireOther(userId: string, credentialId: string): Promise<void> {
    // Without the lock, two concurrent removals could each count on the other credential.
    await this.users.lock(userId);
    const managing = (await this.credentials.findByUser(userId)).filter(managesNow);
    const isLast = managing.length === 1 && managing[0]!.id === credentialId;
    if (isLast) throw new OwnAccessError('revoke your own last credential that can change things');
  }

  private record(action: AuditEntry['action'], accountId: string, resourceId = accountId) {
    return this.audit.record({ action, resourceId, accountId });
  }

  /** @throws NotFoundError, also for a user that is not visible to `by` */
  private async visible(user: string, by: ActingUser | undefined): Promise<User> {
    const found = isNumericId(user)
      ? await this.users.findById(user)
      : await this.findByUsername(user);
    const isVisible = !by || isOperator(by.role) || by.userId === found?.id;
    if (!found || !isVisible) throw new NotFoundError('user');
    return found;
  }

  /**
   * The user, if `by` may change it.
   * @param change what `by` wants to do, as an error names it
   * @throws NotFoundError; ForbiddenError for a user that `by` only sees
   */
  async changeable(user: string, by: ActingUser | undefined, change?: string): Promise<User> {
    const found = await this.visible(user, by);
    requireMayManage(found.role, by, change);
    return found;
  }

  private async hashed(given: string | undefined, salt: Buffer) {
    const password = given ?? generatePassword();
    requirePassword(password);
    const hash = await this.hasher.hash(password, salt);
    return { hash, salt, generated: given === undefined ? { password } : {} };
  }
}

/**
 * Otherwise an operator could become a platform user.
 * @throws ForbiddenError if `by` may not make or change users of this role
 */
function requireMayManage(
  role: Role,
  by: ActingUser | undefined,
  change = 'create or change one',
): void {
  if (role !== 'platform' || !by || by.role === 'platform') return;
  throw new ForbiddenError(`Only a user with the role platform may ${change}.`);
}

function refuseClosed({ status }: User): void {
  if (status === 'closing' || status === 'closed') throw new UserClosedError();
}
