import type { Match } from './password-check.js';

/** How long a session lives, at most and without requests. */
export const SESSION_LIFE = { longest: '12 hours', idle: '30 minutes' } as const;

/** The login of a browser, which a cookie refers to. It ends with its credential. */
export interface Session extends Match {
  /** SHA-256 of the token in the cookie, in Base64. */
  hash: string;
  createdAt: Date;
  /** When it ends without further requests; accurate to about a minute. */
  expiresAt: Date;
}

/** Stores sessions. */
export abstract class Sessions {
  /**
   * Also removes all but the credential's newest ones.
   * @returns false if the credential or its user is no longer valid; a change of either waits for the insert, or
   * is seen by it
   */
  abstract insert(hash: string, credentialId: string): Promise<boolean>;
  /** @returns undefined if it has ended, or if its credential or user is no longer valid */
  abstract find(hash: string): Promise<Session | undefined>;
  /** Notes a request, which extends the session. */
  abstract use(hash: string): Promise<void>;
  /** @returns false if there was none */
  abstract remove(hash: string): Promise<boolean>;
  abstract removeOfUser(userId: string): Promise<void>;
}
