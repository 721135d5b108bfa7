import { createRequire } from 'node:module';
import { Command } from 'commander';
import { addCredentialsCommands } from './commands/credentials.command.js';
import { addEventsCommands } from './commands/events.command.js';
import { addImportApplicationsCommand } from './commands/import-applications.command.js';
import { addListenCommand } from './commands/listen.command.js';
import { addMigrateCommand } from './commands/migrate.command.js';
import { addSecretsCommands } from './commands/secrets.command.js';
import { addUsersCommands } from './commands/users.command.js';
import { COMMAND, example } from './arguments.js';

/** Not from `#libs/runtime`, which takes long to load. */
const { version } = createRequire(import.meta.url)('#package.json') as { version: string };

/** The command line. Wrong arguments throw a CommanderError that commander has already printed. */
export function buildProgram(): Command {
  const program = new Command(COMMAND)
    .description('Operates and tests a Switchhook installation.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutValue(text)) })
    .addHelpText('after', example('users --help'));
  addMigrateCommand(program);
  addUsersCommands(program);
  addCredentialsCommands(program);
  addImportApplicationsCommand(program);
  addSecretsCommands(program);
  addEventsCommands(program);
  addListenCommand(program);
  return program;
}

/** Commander's error repeats a misspelt option with its value; in `--secrt=whsec_…` that is a secret. */
function withoutValue(text: string): string {
  return text.replace(/(unknown option '[^'=]*)=[^']*/, '$1');
}
