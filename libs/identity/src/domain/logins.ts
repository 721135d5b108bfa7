import type { Principal } from './principal.js';
import type { Status } from './user.js';

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
