/** One password of a user, who may have several: so a password is changed with an overlap. */
export class Credential {
  /** A string of digits; set when it is stored. */
  id!: string;
  userId!: string;
  /** Argon2id under the user's salt. */
  hash!: Buffer;
  createdAt!: Date;
  /** From then on it is refused; null: never. */
  expiresAt!: Date | null;
  /** To about a minute. */
  lastUsedAt!: Date | null;
}
