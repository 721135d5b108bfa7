import type { EntityManager } from 'typeorm';

/** The quoted name of this database if the current role is its owner, who alone may change it. */
export async function ownDatabase(manager: EntityManager): Promise<string | undefined> {
  const [database] = await manager.query<{ name: string }[]>(
    `SELECT quote_ident(datname) AS name FROM pg_database
     WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')`,
  );
  return database?.name;
}
