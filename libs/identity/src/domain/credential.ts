/** A password of a user. A user may have several, so that old and new ones can overlap. */
export class Credential {
  /** A string of digits; set when it is stored. */
  id!: string;
  userId!: string;
  /** Argon2id under the user's salt. */
  hash!: Buffer;
  createdAt!: Date;
  /** It is refused from this time on; null means never. */
  expiresAt!: Date | null;
  /** Accurate to about a minute. */
  lastUsedAt!: Date | null;
}
