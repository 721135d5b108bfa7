/** A change of one resource. */
export interface AuditEntry {
  /** The kind of the resource and what happened to it: `webhook.update`. */
  action: `${string}.${string}`;
  resourceId: string;
  /** Whose resource it is; null for what belongs to no account. */
  accountId: string | null;
  /** The names that clients know the changed fields by. Never a value. */
  fields?: readonly string[];
}

/**
 * Writes down who changed what, in the transaction of the change: both are there, or neither. The
 * database says when, and has the name of the user.
 */
export abstract class AuditTrail {
  /** @throws Error outside a transaction */
  abstract record(...entries: AuditEntry[]): Promise<void>;

  /**
   * Whether something was done to a resource so many times in a time that has just passed.
   * @returns ms until the oldest of them is past; 0 if it was done less often
   */
  abstract msUntilFewer(
    change: Pick<AuditEntry, 'action' | 'resourceId'>,
    limit: { times: number; withinMs: number },
  ): Promise<number>;
}
