import type { EntityManager } from 'typeorm';
import type { DatabaseSchema, Process } from './database-schema.js';

/**
 * Gives the roles of the processes exactly these rights, within the transaction of `manager`, so
 * that nobody sees them without. Where there are such roles, nobody but the owner of the database may
 * make temporary tables in it.
 * @param roles their names; a process without one gets nothing
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
    // All of them first: the processes may share a role.
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
