import tab from '@bomb.sh/tab/commander';
import { Command } from 'commander';
import { VERSION } from '#libs/runtime/config';
import { addApplicationsCommands } from './commands/applications.command.js';
import { addCredentialsCommands } from './commands/credentials.command.js';
import { addDeliveriesCommands } from './commands/deliveries.command.js';
import { addEventsCommands } from './commands/events.command.js';
import { addImportApplicationsCommand } from './commands/import-applications.command.js';
import { addListenCommand } from './commands/listen.command.js';
import { addMigrateCommand } from './commands/migrate.command.js';
import { addOwnCredentialsCommands } from './commands/own-credentials.command.js';
import { addReplaysCommands } from './commands/replays.command.js';
import { addSecretsCommands } from './commands/secrets.command.js';
import { addStatsCommand } from './commands/stats.command.js';
import { addUsersCommands } from './commands/users.command.js';
import { addWebhooksCommands } from './commands/webhooks.command.js';
import { COMMAND, example, WHERE } from './arguments.js';
import { addJsonOption } from './output.js';

/** The command line. Wrong arguments throw a CommanderError that commander has already printed. */
export function buildProgram(): Command {
  const program = new Command(COMMAND)
    .description('Operates and tests a Switchhook installation.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutValue(text)) })
    .addHelpText('after', WHERE)
    .addHelpText('after', example('users --help'));
  addMigrateCommand(program);
  addUsersCommands(program);
  addCredentialsCommands(program);
  addOwnCredentialsCommands(program);
  addImportApplicationsCommand(program);
  addSecretsCommands(program);
  addApplicationsCommands(program);
  addWebhooksCommands(program);
  addEventsCommands(program);
  addDeliveriesCommands(program);
  addReplaysCommands(program);
  addStatsCommand(program);
  addListenCommand(program);
  addJsonOption(program);
  addCompletion(program);
  return program;
}

/** `completion bash|zsh|fish|powershell` prints a completion script for the installed command. */
function addCompletion(program: Command): void {
  const name = program.name();
  tab(program.name('switchhook'), { completionCommandName: 'completion' });
  program.name(name);
  const command = program.commands.find((one) => one.name() === 'completion');
  command?.description('print a script for shell completion');
}

/** Commander's error repeats a misspelt option with its value; in `--secrt=whsec_…` that is a secret. */
function withoutValue(text: string): string {
  return text.replace(/(unknown option '[^'=]*)=[^']*/, '$1');
}
