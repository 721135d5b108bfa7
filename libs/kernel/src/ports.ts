import type { Actor } from './actor.js';

/**
 * Lets repositories of several contexts share a transaction without passing it around: everything they do
 * inside the work of {@link run} belongs to it.
 */
export abstract class Transactions {
  /**
   * Runs `work` in the current transaction, or in a new one. After a conflict with a concurrent transaction
   * (serialisation failure, deadlock) the work is repeated, so it must have no effects outside the database
   * except through {@link afterCommit}.
   * @throws UnavailableError when the database cannot be reached
   */
  abstract run<Result>(work: () => Promise<Result>): Promise<Result>;

  /** Runs work that must wait until others can see the changes; outside a transaction, at once. */
  abstract afterCommit(work: () => void): void;
}

/** A change of one resource. */
export interface AuditEntry {
  /** The kind of the resource and what happened to it: `webhook.update`. */
  action: `${string}.${string}`;
  resourceId: string;
  /** The owner of the resource; null if it belongs to no account. */
  accountId: string | null;
  /** The changed fields, by the names that clients know. Never a value. */
  fields?: readonly string[];
}

/**
 * Records who changed what, in the transaction of the change: both are stored, or neither. The database
 * adds the time and the user's name.
 */
export abstract class AuditTrail {
  /** @throws Error outside a transaction */
  abstract record(...entries: AuditEntry[]): Promise<void>;

  /**
   * Whether there are `times` or more entries of a resource within the last `withinMs`, by anybody, or by a user from an
   * address. For an exact answer, the caller locks the resource.
   * @returns ms until the oldest of these entries leaves that window; 0 if there were fewer
   */
  abstract msUntilFewer(
    entry: Pick<AuditEntry, 'action' | 'resourceId'> & { by?: Actor },
    limit: { times: number; withinMs: number },
  ): Promise<number>;
}
