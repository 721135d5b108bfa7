import type { Command } from 'commander';
import { example } from '../arguments.js';

/** `migrate` */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to this version (DATABASE_URL or MIGRATION_DATABASE_URL)')
    .addHelpText('after', example('migrate'))
    .action(run);
}

async function run(): Promise<void> {
  const { configFromEnvironment, migrate } = await import('#libs/runtime');
  const done = await migrate(configFromEnvironment(), { tell: (line) => console.error(line) });
  for (const name of done) console.log(`migrated ${name}`);
  console.log('The database is up to date.');
}
