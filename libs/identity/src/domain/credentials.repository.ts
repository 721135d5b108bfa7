import type { Credential } from './credential.js';

/** A credential to store. The store adds its id and time. */
export type NewCredential = Pick<Credential, 'userId' | 'hash' | 'expiresAt'>;

/** Stores credentials. */
export abstract class CredentialsRepository {
  /** In ascending order of id. */
  abstract ofUser(userId: string): Promise<Credential[]>;
  abstract insert(credential: NewCredential): Promise<Credential>;
  /** @returns whether the user had it */
  abstract remove(userId: string, id: string): Promise<boolean>;
}
