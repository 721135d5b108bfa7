import { createHash } from 'node:crypto';

/** So many logins may fail in the window, which begins with the first of them. */
export const FAILURES_ALLOWED = 10;
export const FAILURE_WINDOW_MS = 15 * 60_000;
/** What may still succeed is worth asking for again so soon. */
export const ATTEMPTS_PENDING_MS = 1_000;

/** How a login ended; `undecided`: nobody knows, since a store was away or there was too much to do. */
export type LoginOutcome = 'succeeded' | 'failed' | 'undecided';

/**
 * Counts failed logins by username and address. An attempt counts as a failed one from its
 * beginning: so no more than are allowed get through, however many come at once.
 */
export abstract class LoginFailures {
  /** @returns 0 where the attempt may go on, which {@link end} must then tell of; else ms to wait */
  abstract begin(login: string): Promise<number>;
  /** A success forgets the failures before it (NIST SP 800-63B, section 5.2.2). */
  abstract end(login: string, outcome: LoginOutcome): void;
}

/** Names a username at an address without telling either. */
export function loginKey(username: string, address: string): string {
  return createHash('sha256').update(`${address}\n${username}`).digest('base64url');
}
