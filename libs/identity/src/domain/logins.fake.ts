import { createHash } from 'node:crypto';
import { type Login, Logins, type Principal } from './logins.js';
import { PasswordHasher } from './password-check.js';

/** Logins in memory. Tests change the list in place of the database. */
export class FakeLogins extends Logins {
  readonly all: Login[] = [];
  /** The number of calls of {@link principalOf}. */
  lookups = 0;
  /** If set, the store is unavailable. */
  failure: Error | undefined;

  override find(username: string): Promise<Login | undefined> {
    if (this.failure) return Promise.reject(this.failure);
    return Promise.resolve(this.all.find(({ user }) => user.username === username));
  }

  override principalOf(credentialId: string): Promise<Principal | undefined> {
    this.lookups += 1;
    if (this.failure) return Promise.reject(this.failure);
    const active = this.all.filter(({ status }) => status === 'active');
    const [principal] = active.flatMap(({ user, credentials }) =>
      credentials.filter(({ id }) => id === credentialId).map(({ scope }) => ({ ...user, scope })),
    );
    return Promise.resolve(principal);
  }
}

/** A fast hash that counts its computations. */
export class FakePasswordHasher extends PasswordHasher {
  readonly salts: string[] = [];

  get computations(): number {
    return this.salts.length;
  }

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    this.salts.push(salt.toString('hex'));
    return Promise.resolve(fakeHash(password, salt));
  }
}

export function fakeHash(password: string, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(password).digest();
}
