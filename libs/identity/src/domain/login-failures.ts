import { createHash } from 'node:crypto';

/** So many logins may fail in a window, which begins with the first of them. */
const ALLOWED_OF_PAIR = 10;
const ALLOWED_OF_ADDRESS = 100;
export const FAILURE_WINDOW_MS = 15 * 60_000;
/** What may still succeed is worth asking for again so soon. */
export const ATTEMPTS_PENDING_MS = 1_000;

/** How a login ended; `undecided`: nobody knows, since a store was away or there was too much to do. */
export type LoginOutcome = 'succeeded' | 'failed' | 'undecided';

/** What failed logins are counted by. */
export interface LoginCounter {
  /** Tells neither a username nor an address. */
  key: string;
  /** So many may fail. */
  allowed: number;
}

/**
 * Counts failed logins. An attempt counts as a failed one from its beginning: so no more than are
 * allowed get through, however many come at once.
 */
export abstract class LoginFailures {
  /** @returns 0 where the attempt may go on, which {@link end} must then tell of; else ms to wait */
  abstract begin(counter: LoginCounter): Promise<number>;
  /** A success forgets the failures before it (NIST SP 800-63B, section 5.2.2). */
  abstract end(counter: LoginCounter, outcome: LoginOutcome): void;
}

/** Counts those with a username from an address. */
export function pairCounter(username: string, address: string): LoginCounter {
  return { key: keyOf(`${address}\n${username}`), allowed: ALLOWED_OF_PAIR };
}

/** Counts those from an address, whatever the username. */
export function addressCounter(address: string): LoginCounter {
  return { key: keyOf(address), allowed: ALLOWED_OF_ADDRESS };
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
