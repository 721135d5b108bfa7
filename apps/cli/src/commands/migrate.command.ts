import type { Command } from 'commander';
import { addCommand } from '../command.js';
import { complain, type OutputOptions, print } from '../output.js';

/** `migrate` */
export function addMigrateCommand(program: Command): void {
  addCommand(
    program,
    'migrate',
    'migrate the database to this version (DATABASE_URL or MIGRATION_DATABASE_URL)',
  ).action(run);
}

async function run(options: OutputOptions): Promise<void> {
  const [{ readConfigOf, migrate }, { contextSchemas }] = await Promise.all([
    import('#libs/runtime'),
    import('../context-schemas.js'),
  ]);
  const done = await migrate(readConfigOf('cli'), contextSchemas, { print: complain });
  const lines = [...done.map((name) => `migrated ${name}`), 'The database is up to date.'];
  print(options, { migrated: done }, lines.join('\n'));
}
