import type { Credential } from './credential.js';

/** Where credentials are kept. */
export abstract class CredentialsRepository {
  /** In ascending order of id. */
  abstract ofUser(userId: string): Promise<Credential[]>;
  abstract insert(userId: string, hash: Buffer): Promise<Credential>;
  /** @returns whether the user had it */
  abstract remove(userId: string, id: string): Promise<boolean>;
}
