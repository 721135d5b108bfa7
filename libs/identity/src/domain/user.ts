/** What a user may do; `platform` runs the service. */
export const ROLES = ['account', 'platform'] as const;
export type Role = (typeof ROLES)[number];

/** A locked user's credentials are refused; its events are delivered all the same. */
export const STATUSES = ['active', 'locked'] as const;
export type Status = (typeof STATUSES)[number];

/** Length of a user's salt. */
export const SALT_BYTES = 16;

/** A user, which is an account. */
export class User {
  /** A string of digits; set when it is stored. */
  id!: string;
  username!: string;
  role!: Role;
  status!: Status;
  /** One for all passwords of the user, so that one computation checks them all. */
  salt!: Buffer;
  joinDate!: Date;
}
