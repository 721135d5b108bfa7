import type { Found, Page } from '#libs/kernel';

/** Who did what, when, and from where. */
export interface AuditRecord {
  id: string;
  createdAt: Date;
  /** Whose resource it is; absent for what belongs to no account. */
  accountId?: string;
  /** Absent for the command line, the service itself, and where an operator is not named. */
  userId?: string;
  /** The username, `cli`, `system` or `platform`. */
  actor: string;
  address?: string;
  requestId?: string;
  action: string;
  /** The kind of the resource. */
  resource: string;
  resourceId: string;
  /** The names of those that changed. */
  fields: string[];
}

/** What a list of entries is narrowed down to. A value that nothing has finds nothing. */
export interface AuditFilter {
  accountId?: string;
  action?: string;
  resource?: string;
  resourceId?: string;
  /** At that time or later. */
  since?: Date;
  /** Before that time. */
  until?: Date;
}

/** What was recorded of changes. */
export abstract class AuditLog {
  /**
   * Newest first.
   * @param viewer only the entries of this account, without the name and the address of operators;
   * undefined for the platform, which sees all
   */
  abstract list(
    viewer: string | undefined,
    filter: AuditFilter,
    page: Page,
  ): Promise<Found<AuditRecord>>;
}
