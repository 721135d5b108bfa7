import { label, parseTime, type Problem, refuse, requireValid, time } from '#libs/kernel';
import type { CredentialScope } from './access.js';

/** A password of a user. A user may have several, so that old and new ones can overlap. */
export class Credential {
  /** A string of digits; set when it is stored. */
  id!: string;
  userId!: string;
  /** A label for people; null if it has none. */
  name!: string | null;
  scope!: CredentialScope;
  /** Argon2id under the user's salt. */
  hash!: Buffer;
  createdAt!: Date;
  /** It is refused from this time on; null means never. */
  expiresAt!: Date | null;
  /** The hour in which it was last used, in UTC. */
  lastUsedAt!: Date | null;
}

const NO_EXPIRY: Problem = { code: 'range', says: 'must be in the future' };

/** Whether a credential may expire at this time. */
function isExpiry(time: Date): boolean {
  return time.getTime() > Date.now();
}

/** Whether a user can still change things with a credential. */
export function managesNow({ scope, expiresAt }: Pick<Credential, 'scope' | 'expiresAt'>): boolean {
  return scope === 'manage' && (expiresAt === null || isExpiry(expiresAt));
}

/** The name of a credential, in a request. */
export const credentialNameValidator = label(100);

/** @throws ValidationError unless the text may be a credential's name */
export function requireCredentialName(name: string): void {
  requireValid('name', name, credentialNameValidator);
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
export type NewCredential = Omit<Credential, 'id' | 'createdAt' | 'lastUsedAt'>;

/** The first credential of a user. */
export function firstCredential(userId: string, hash: Buffer): NewCredential {
  return { userId, hash, name: null, scope: 'manage', expiresAt: null };
}

/** Stores credentials. */
export abstract class CredentialsRepository {
  /** In ascending order of id. */
  abstract findByUser(userId: string): Promise<Credential[]>;
  abstract insert(credential: NewCredential): Promise<Credential>;
  /** @returns whether the user had it */
  abstract remove(userId: string, id: string): Promise<boolean>;
  abstract removeAll(userId: string): Promise<void>;
}
