import type { Command } from 'commander';
import { example } from '../arguments.js';

/** `migrate` */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to this version (DATABASE_URL or MIGRATION_DATABASE_URL)')
    .addHelpText('after', example('migrate'))
    .action(run);
}

async function run(): Promise<void> {
  const [{ readConfig, migrate }, { contextSchemas }] = await Promise.all([
    import('#libs/runtime'),
    import('../context-schemas.js'),
  ]);
  const print = (line: string): void => console.error(line);
  const done = await migrate(readConfig(), contextSchemas, { print });
  for (const name of done) console.log(`migrated ${name}`);
  console.log('The database is up to date.');
}
