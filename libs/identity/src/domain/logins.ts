import type { Role, Status } from './user.js';

/** The authenticated user of a request. */
export interface Principal {
  /** A string of digits; the number of the account. */
  userId: string;
  username: string;
  role: Role;
}

/** The data that is needed to check a user's password. */
export interface Login {
  principal: Principal;
  status: Status;
  salt: Buffer;
  /** The credentials that have not expired. */
  credentials: { id: string; hash: Buffer }[];
}

/** The queries of authentication, once a second for every pair in use. */
export abstract class Logins {
  abstract find(username: string): Promise<Login | undefined>;
  /** The credential's user; undefined if it is deleted or has expired, or if the user is locked. */
  abstract principalOf(credentialId: string): Promise<Principal | undefined>;
}

/** Records when each credential was last used. */
export abstract class CredentialUses {
  /** Notes that the credential was used now. It is stored later, at most once a minute. */
  abstract note(credentialId: string): void;
}
