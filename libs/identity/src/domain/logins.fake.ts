import { type Login, Logins } from './logins.js';
import type { Principal } from './principal.js';

/** Logins in memory; tests change the list as others would change the database. */
export class FakeLogins extends Logins {
  readonly all: Login[] = [];
  /** Questions asked by {@link principalOf}. */
  looks = 0;
  /** Set: the store is away. */
  failure: Error | undefined;

  override find(username: string): Promise<Login | undefined> {
    if (this.failure) return Promise.reject(this.failure);
    return Promise.resolve(this.all.find(({ principal }) => principal.username === username));
  }

  override principalOf(credentialId: string): Promise<Principal | undefined> {
    this.looks += 1;
    if (this.failure) return Promise.reject(this.failure);
    const login = this.all.find(
      ({ status, credentials }) =>
        status === 'active' && credentials.some(({ id }) => id === credentialId),
    );
    return Promise.resolve(login?.principal);
  }
}
