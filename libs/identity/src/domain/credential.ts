import { parseTime, type Problem, refuse, time } from '#libs/kernel';

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

const NO_EXPIRY: Problem = { code: 'range', says: 'must be in the future' };

/** Whether a credential may expire at this time. */
function isExpiry(time: Date): boolean {
  return time.getTime() > Date.now();
}

/** Whether a credential has expired. */
export function isExpired({ expiresAt }: { expiresAt: Date | null }): boolean {
  return expiresAt !== null && !isExpiry(expiresAt);
}

/** @throws ValidationError unless a credential may expire at this time */
export function requireExpiry(time: Date): void {
  refuse('expiresAt', isExpiry(time) ? undefined : NO_EXPIRY);
}

/** When a credential expires, in a request. */
export const expiryValidator = time().and(NO_EXPIRY.code, NO_EXPIRY.says, (value) =>
  isExpiry(parseTime(value)!),
);

/** A credential to store. The store adds its id and time. */
export type NewCredential = Pick<Credential, 'userId' | 'hash' | 'expiresAt'>;

/** Stores credentials. */
export abstract class CredentialsRepository {
  /** In ascending order of id. */
  abstract findByUser(userId: string): Promise<Credential[]>;
  abstract insert(credential: NewCredential): Promise<Credential>;
  /** @returns whether the user had it */
  abstract remove(userId: string, id: string): Promise<boolean>;
}
