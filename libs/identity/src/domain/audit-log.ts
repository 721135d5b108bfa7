import type { Found, Page } from '#libs/kernel';

/** Who did what, when, and from where. */
export interface AuditRecord {
  id: string;
  createdAt: Date;
  /** The owner of the resource; absent if it belongs to no account. */
  accountId?: string;
  /** Absent for the command line, for the service itself, and for an operator whose name is hidden. */
  userId?: string;
  /** The username, `cli`, `system` or `platform`. */
  actor: string;
  address?: string;
  requestId?: string;
  action: string;
  /** The kind of the resource. */
  resource: string;
  resourceId: string;
  /** The names of the changed fields. */
  fields: string[];
}

/** Filters a list of entries. An unknown value matches nothing. */
export interface AuditFilter {
  accountId?: string;
  action?: string;
  resource?: string;
  resourceId?: string;
  /** At this time or later. */
  since?: Date;
  /** Before this time. */
  until?: Date;
}

/** Reads the recorded changes. */
export abstract class AuditLog {
  /**
   * Newest first.
   * @param viewer limits the list to this account and hides the operators; undefined for the platform
   */
  abstract list(
    viewer: string | undefined,
    filter: AuditFilter,
    page: Page,
  ): Promise<Found<AuditRecord>>;
}
