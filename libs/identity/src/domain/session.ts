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
  /** Also removes all but the credential's newest ones. */
  abstract insert(hash: string, credentialId: string): Promise<void>;
  /** @returns undefined if it has ended, or if its credential or user is no longer valid */
  abstract find(hash: string): Promise<Session | undefined>;
  /** Notes a request, which extends the session. */
  abstract use(hash: string): Promise<void>;
  abstract remove(hash: string): Promise<void>;
}
