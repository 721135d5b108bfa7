import type { EntityManager, MigrationInterface, QueryRunner } from 'typeorm';
import type { Config } from '../config/config.js';

/** The processes that have a database role of their own; the role that migrates owns everything. */
export type Process = 'api' | 'worker';

/** What each process may do, as GRANT has it. A process that is not named may do nothing. */
export type Rights = Readonly<Partial<Record<Process, string>>>;

export type Migration = new () => MigrationInterface;

/**
 * What a library keeps in the database. While an upgrade is under way the version before works with the same
 * rights: take one away a release after it is last needed.
 */
export interface DatabaseSchema {
  /** Those of all libraries are carried out in the order of the numbers that their names end in. */
  migrations: readonly Migration[];
  /**
   * Of every table. Columns are named where a process that was taken over must not change the others. A table
   * without rights fails a test.
   */
  tables: Readonly<Record<string, Rights>>;
  /** Of every function that runs with its owner's rights: nobody else may call it. */
  functions?: Readonly<Record<string, Rights>>;
  /** What each `migrate` does once the tables are there, in the transaction that gives the rights. */
  configure?: (manager: EntityManager, config: Config) => Promise<void>;
}

/**
 * For its transaction, and through `FROM CURRENT` for every function that runs with its owner's rights: it looks
 * up names in our schema alone, never among what its caller can make. pg_temp comes last because it is named;
 * otherwise it would come first.
 */
const SCHEMA_ALONE = `
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`;

/**
 * A migration of these statements, in one transaction. It is never undone: a step back is a restore
 * (docs/operating/upgrade.md).
 * @param name ends in 13 digits, the milliseconds of the time when it was written
 */
export function migrationOf(name: string, ...statements: readonly string[]): Migration {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      for (const sql of [SCHEMA_ALONE, ...statements]) await runner.query(sql);
    }

    down(): Promise<void> {
      return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
    }
  };
}
