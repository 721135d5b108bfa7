import type { EntityManager } from 'typeorm';
import type { DatabaseSchema, Process } from './database-schema.js';
import { ownDatabase } from './own-database.js';

/**
 * Grants the processes' roles exactly these rights in the transaction of `manager`, so that no session sees
 * them missing. If there are such roles, only the owner of the database may create temporary tables.
 * @param roles the role name of each process; a process without one gets no rights
 */
export async function grantRights(
  manager: EntityManager,
  schemas: readonly DatabaseSchema[],
  roles: Readonly<Partial<Record<Process, string>>>,
): Promise<void> {
  const named = Object.entries(roles) as [Process, string][];
  if (named.length > 0) await revokeTemporary(manager, Object.values(roles).map(quoted));
  await revokeSequences(manager, Object.values(roles).map(quoted));
  const objects = schemas.flatMap(({ tables, functions = {} }) => [
    ...Object.entries(tables).map(([name, rights]) => [`TABLE ${name}`, rights] as const),
    ...Object.entries(functions).map(([name, rights]) => [`FUNCTION ${name}`, rights] as const),
  ]);
  for (const [object, rights] of objects) {
    // Revoke from all roles before granting, because the processes may share one.
    for (const [, role] of named) {
      await manager.query(`REVOKE ALL ON ${object} FROM ${quoted(role)}`);
    }
    for (const [process, role] of named) {
      if (rights[process] === undefined) continue;
      await manager.query(`GRANT ${rights[process]} ON ${object} TO ${quoted(role)}`);
    }
  }
}

/**
 * By default every role may create temporary tables and so fill the disk. Only the database owner can
 * revoke that: if an administrator owns it, they have to.
 */
async function revokeTemporary(manager: EntityManager, roles: readonly string[]): Promise<void> {
  const database = await ownDatabase(manager);
  if (database === undefined) return;
  const all = ['PUBLIC', ...roles].join(', ');
  await manager.query(`REVOKE TEMPORARY ON DATABASE ${database} FROM ${all}`);
}

/** No role needs sequences: identity columns advance theirs without any rights. */
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
