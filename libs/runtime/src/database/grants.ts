import type { EntityManager } from 'typeorm';

/** The processes that have a database role of their own; the one that migrates owns everything. */
export type Process = 'api' | 'worker';

type Rights = Readonly<Partial<Record<Process, string>>>;

/**
 * What each process may do, as GRANT has it; a process that is not named may do nothing. Columns
 * are named where a process that was taken over must not change the others. A table of which
 * nothing is said here fails a test. While an upgrade is under way the version before works with
 * the same rights: take one away a release after it is last needed.
 */
export const TABLE_RIGHTS: Readonly<Record<string, Rights>> = {
  users: { api: 'SELECT, INSERT, UPDATE (status)' },
  credentials: { api: 'SELECT, INSERT, DELETE, UPDATE (last_used_at)' },
  environments: { api: 'SELECT, INSERT' },
  applications: { api: 'SELECT, INSERT, UPDATE' },
  // What a customer decides is not the worker's to change: where to, with which secret, whose it is.
  webhooks: {
    api: 'SELECT, INSERT, UPDATE',
    worker: `SELECT, UPDATE (enabled, disabled_reason, disabled_at, hold_until, failures,
      failing_since, open_until, openings, closed_at, backlog, generation, cancelling, version,
      updated_at)`,
  },
  event_keys: { api: 'SELECT, INSERT', worker: 'SELECT, DELETE' },
  // What was reported is never changed.
  events: { api: 'SELECT, INSERT', worker: 'SELECT' },
  deliveries: {
    api: `SELECT, INSERT, UPDATE (state, reason, generation, schedule_base, immediate, replayed,
      taken, next_attempt_at, claimed_until, completed_at)`,
    worker: `SELECT, UPDATE (state, reason, generation, schedule_base, immediate, replayed, taken,
      next_attempt_at, claimed_until, completed_at, takes, attempts)`,
  },
  // The record of what was sent: whoever reads it does not write it, and nobody rewrites it.
  attempts: { api: 'SELECT', worker: 'INSERT' },
  replays: {
    api: 'SELECT, INSERT, UPDATE (state, completed_at)',
    worker: 'SELECT, UPDATE (state, completed_at, replayed, after), DELETE',
  },
  // To delete old ones the worker locks them, which takes the right to change something of them.
  idempotency_keys: {
    api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
    worker: 'SELECT, UPDATE (created_at), DELETE',
  },
  // It is only added to, and that by everybody who changes something.
  audit: { api: 'SELECT, INSERT', worker: 'INSERT' },
  migrations: {},
};

/** Functions that run with their owner's rights: nobody else may call them. */
export const FUNCTION_RIGHTS: Readonly<Record<string, Rights>> = {
  'ensure_partitions(integer)': { api: 'EXECUTE', worker: 'EXECUTE' },
  'due_deliveries(integer)': { worker: 'EXECUTE' },
  'detach_partition(text)': { worker: 'EXECUTE' },
  'drop_partition(text)': { worker: 'EXECUTE' },
  'forget_webhooks(integer,integer)': { worker: 'EXECUTE' },
  // The sequence moves past the ids that an import brings. All others move by themselves.
  'raise_application_ids()': { api: 'EXECUTE' },
};

/**
 * Gives the roles of the processes exactly these rights, within the transaction of `manager`, so
 * that nobody sees them without. Where there are such roles, nobody but the owner of the database may
 * make temporary tables in it.
 * @param roles their names; a process without one gets nothing
 */
export async function grantRights(
  manager: EntityManager,
  roles: Readonly<Partial<Record<Process, string>>>,
): Promise<void> {
  const named = Object.entries(roles) as [Process, string][];
  if (named.length > 0) await revokeTemporary(manager, Object.values(roles).map(quoted));
  await revokeSequences(manager, Object.values(roles).map(quoted));
  const kinds = [
    ['TABLE', TABLE_RIGHTS],
    ['FUNCTION', FUNCTION_RIGHTS],
  ] as const;
  for (const [kind, rightsOf] of kinds) {
    for (const [object, rights] of Object.entries(rightsOf)) {
      // All of them first: the processes may share a role.
      for (const [, role] of named) {
        await manager.query(`REVOKE ALL ON ${kind} ${object} FROM ${quoted(role)}`);
      }
      for (const [process, role] of named) {
        if (rights[process] === undefined) continue;
        await manager.query(`GRANT ${rights[process]} ON ${kind} ${object} TO ${quoted(role)}`);
      }
    }
  }
}

/**
 * Everybody may make temporary tables at first, and so fill the disk. Only the owner of the database
 * can take that away: where an administrator owns it, it is theirs to do.
 */
async function revokeTemporary(manager: EntityManager, roles: readonly string[]): Promise<void> {
  const [database] = await manager.query<{ name: string }[]>(
    `SELECT quote_ident(datname) AS name FROM pg_database
     WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')`,
  );
  if (!database) return;
  const all = ['PUBLIC', ...roles].join(', ');
  await manager.query(`REVOKE TEMPORARY ON DATABASE ${database.name} FROM ${all}`);
}

/** Columns with an identity move theirs by themselves. */
async function revokeSequences(manager: EntityManager, roles: readonly string[]): Promise<void> {
  const [schema] = await manager.query<{ name: string }[]>(
    'SELECT quote_ident(current_schema()) AS name',
  );
  for (const role of roles) {
    await manager.query(`REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${schema?.name} FROM ${role}`);
  }
}

function quoted(role: string): string {
  return `"${role.replaceAll('"', '""')}"`;
}
