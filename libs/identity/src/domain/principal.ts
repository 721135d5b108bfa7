import type { Role } from './user.js';

/** The authenticated user of a request. */
export interface Principal {
  /** A string of digits; the number of the account. */
  userId: string;
  username: string;
  role: Role;
}
