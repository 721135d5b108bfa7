import type { EntitySchemaColumnOptions, MigrationInterface, QueryRunner } from 'typeorm';
import type { Config } from '../config/config.js';

/** The processes with their own database role. The role that runs `migrate` owns everything. */
export type Process = 'api' | 'worker';

/** The privileges of each process, in GRANT syntax. A process that is not listed has none. */
type Rights = Readonly<Partial<Record<Process, string>>>;

type Migration = new () => MigrationInterface;

/**
 * A library's part of the database. Processes of the previous minor version work with the same rights during an upgrade,
 * so revoke a right one release after its last use.
 */
export interface DatabaseSchema {
  /** The migrations of all libraries run in the order of the numbers at the end of their names. */
  migrations: readonly Migration[];
  /**
   * The rights on every table; a test fails for a table without an entry. Columns are listed where a
   * compromised process must not change the others.
   */
  tables: Readonly<Record<string, Rights>>;
  /** The rights on every SECURITY DEFINER function. No other role may call it. */
  functions?: Readonly<Record<string, Rights>>;
  /**
   * SQL that each `migrate` runs after the migrations, in the transaction that grants the rights: the functions as
   * this version has them, with CREATE OR REPLACE, which keeps their rights. Old processes call them, too, until they
   * are replaced: a function with other parameters or another result gets a new name. A migration must come with it if processes cannot work before `migrate` has run.
   */
  script?: (config: Config) => string;
}

/**
 * Makes the transaction, and through `FROM CURRENT` every SECURITY DEFINER function, look up names in our
 * schema only, never among objects that a caller can create. pg_temp is listed last, because it is searched
 * first unless it is listed.
 */
export const OUR_SCHEMA_ONLY = `
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`;

/**
 * A migration that runs these texts of commands in one transaction. It cannot be reverted: to go back, restore a
 * backup (docs/operating/upgrade.md).
 * @param name ends in 13 digits: when it was written, in Unix milliseconds
 */
export function migrationOf(name: string, ...texts: readonly string[]): Migration {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(OUR_SCHEMA_ONLY);
      for (const command of texts.flatMap(commandsIn)) await runner.query(command);
    }

    down(): Promise<void> {
      return Promise.reject(new Error('migrations cannot be reverted; restore a backup instead'));
    }
  };
}

/**
 * The commands of a text, because Citus refuses several at once on a distributed schema. The body of a function in $$
 * is a part of its command.
 */
export function commandsIn(text: string): string[] {
  const commands = text.match(/(?:\$\$[^]*?\$\$|[^;])+/g) ?? [];
  return commands.filter((command) => command.trim() !== '');
}

/** A numeric id column that the database generates unless a value is given. A string in our code. */
export function identityColumn(primaryKeyConstraintName: string): EntitySchemaColumnOptions {
  return {
    type: 'bigint',
    primary: true,
    primaryKeyConstraintName,
    // TypeORM supports this strategy, but the type of its EntitySchema options lacks it.
    generated: 'identity' as 'increment',
  };
}
