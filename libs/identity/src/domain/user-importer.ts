import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  type FieldFault,
  recordFault,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { CredentialsRepository, firstCredential } from './credential.js';
import { PasswordHasher } from './password-check.js';
import { SALT_BYTES, UsersRepository } from './user.js';
import { type ImportedUser, readUsers } from './user-import.js';

interface PreparedUser extends Omit<ImportedUser, 'password'> {
  salt: Buffer;
  hash: Buffer | undefined;
}

/** Imports users that were created elsewhere, with their ids. */
@Injectable()
export class UserImporter {
  constructor(
    private readonly users: UsersRepository,
    private readonly credentials: CredentialsRepository,
    private readonly hasher: PasswordHasher,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Prepares to import users that were created elsewhere. Hashing their passwords takes too long for a
   * transaction.
   * @returns imports all of them or none, and returns their number
   * @throws ValidationError whose faults contain a JSON Pointer, such as `/3/username`; so does the import
   */
  async prepare(file: unknown): Promise<() => Promise<number>> {
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
        if (hash) await this.credentials.insert(firstCredential(user.id, hash));
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
}
