import type { CredentialScope, Role } from './access.js';
import type { UserStatus } from './user.js';

/** The authenticated user of a request. */
export interface Principal {
  /** A string of digits; the number of the account. */
  userId: string;
  username: string;
  role: Role;
  /** Of the credential that was used. */
  scope: CredentialScope;
}

/** A login with a link that has not been used. */
export interface LinkMatch {
  linkId: string;
  principal: Principal;
}

/** Who acts or looks, for the rules about users. */
export type ActingUser = Pick<Principal, 'userId' | 'role'>;

/** The data that is needed to check a user's password. */
export interface Login {
  user: Omit<Principal, 'scope'>;
  status: UserStatus;
  salt: Buffer;
  /** The credentials that have not expired. */
  credentials: { id: string; hash: Buffer; scope: CredentialScope }[];
}

/** The queries of authentication, once a second for every pair in use. */
export abstract class Logins {
  abstract find(username: string): Promise<Login | undefined>;
  /** The credential's user; undefined if it is deleted or has expired, or if the user is locked. */
  abstract principalOf(credentialId: string): Promise<Principal | undefined>;
}

/** Records when each credential was last used. */
export abstract class CredentialUses {
  /** Notes that the credential was used now. The hour is stored, a little later. */
  abstract note(credentialId: string): void;
}
