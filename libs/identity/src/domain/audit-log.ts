import type { Found, Page, Scope } from '#libs/kernel';

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

/** Every action that is recorded, by all contexts. It begins with the kind of its resource. */
export const AUDIT_ACTIONS: readonly string[] = [
  'user.create',
  'user.import',
  'user.lock',
  'user.unlock',
  'user.close',
  'user.list_applications',
  'user.list_webhooks',
  'credential.create',
  'credential.delete',
  'link.create',
  'session.create',
  'session.delete',
  'environment.create',
  'application.create',
  'application.import',
  'application.update',
  'application.delete',
  'application.show',
  'webhook.create',
  'webhook.update',
  'webhook.pause',
  'webhook.resume',
  'webhook.rotate_secret',
  'webhook.delete',
  'webhook.disable',
  'webhook.recover',
  'webhook.show',
  'recovery.create',
  'erasure.create',
  'replay.create',
  'replay.cancel',
  'delivery.create',
  'delivery.test',
  'delivery.redeliver',
  'delivery.send',
  'delivery.cancel',
];

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
   * @param viewer an account sees only its own entries, and not who the operators are
   */
  abstract list(viewer: Scope, filter: AuditFilter, page: Page): Promise<Found<AuditRecord>>;
}
