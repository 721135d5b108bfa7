/** The roles of users; `platform` operates the service. */
export const ROLES = ['account', 'platform'] as const;
export type Role = (typeof ROLES)[number];

/** A locked user's credentials are refused; events of the account are still delivered. */
export const STATUSES = ['active', 'locked'] as const;
export type Status = (typeof STATUSES)[number];

/** The length of a user's salt. */
export const SALT_BYTES = 16;

/** A user. Each user is an account. */
export class User {
  /** A string of digits; set when it is stored. */
  id!: string;
  username!: string;
  role!: Role;
  status!: Status;
  /** Shared by all passwords of the user, so that one computation checks all of them. */
  salt!: Buffer;
  joinDate!: Date;
}
