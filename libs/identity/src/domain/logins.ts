import type { Principal } from './principal.js';
import type { Status } from './user.js';

/** What it takes to check a password of a user. */
export interface Login {
  principal: Principal;
  status: Status;
  salt: Buffer;
  /** Those that have not expired. */
  credentials: { id: string; hash: Buffer }[];
}

/** What authentication asks the store, once a second for every pair in use. */
export abstract class Logins {
  abstract find(username: string): Promise<Login | undefined>;
  /** Whom the credential stands for now; undefined if it is gone or expired, or its user locked. */
  abstract principalOf(credentialId: string): Promise<Principal | undefined>;
}
