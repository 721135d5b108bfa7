import type { Command } from 'commander';
import {
  apiOf,
  type ApiConnection,
  type ApiOptions,
  withApiOptions,
} from './api/api-connection.js';
import type { Filters } from './api/lists.js';
import { example, numericId } from './arguments.js';
import type { OutputOptions } from './output.js';

/** The options of a command that calls a running API. */
export type Options = ApiOptions & OutputOptions & Filters;

/**
 * Adds a command with an example.
 * @param args those of the example, behind the names of the commands
 */
export function addCommand(parent: Command, name: string, does: string, args = ''): Command {
  const group = parent.parent ? `${parent.name()} ` : '';
  return parent
    .command(name)
    .description(does)
    .addHelpText('after', example(`${group}${name} ${args}`.trimEnd()));
}

/** Like {@link addCommand}, for a command that calls a running API as the user of an account. */
export function addApiCommand(parent: Command, name: string, does: string, args?: string): Command {
  return withApiOptions(addCommand(parent, name, does, args), 'account');
}

/** Adds the account that an operator reads. */
export function withAccount(command: Command): Command {
  return command.option(
    '--account <id>',
    'of this account; for users with the role operator or platform',
    numericId,
  );
}

/** The action of a command that begins with the connection to the API. */
export function withApi(
  act: (api: ApiConnection, options: never, ...args: never[]) => Promise<void>,
) {
  return async (...given: unknown[]): Promise<void> => {
    const [options, command] = given.splice(-2) as [Options, Command];
    await act(await apiOf(options, command), options as never, ...(given as never[]));
  };
}

/** Ends the command if one of these options, by their names in `options`, is given on the command line. */
export function refuseOptions(
  command: Command,
  names: readonly string[],
  why: (option: string) => string,
): void {
  const given = command.options.find((option) => {
    const name = option.attributeName();
    return names.includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (given) command.error(`error: ${why(given.long!)}`);
}
