import type { Command } from 'commander';
import { jsonText, RawJson } from '#libs/kernel';
import { parsed, readText } from './input.js';

export interface BodyOptions {
  fromFile?: string;
  passwordStdin?: true;
}

/** Adds the option of a command that can send a file instead of its other options. */
export function withFromFile(command: Command): Command {
  return command.option(
    '--from-file <file>',
    'send a JSON object as it is, instead of the fields above; - for standard input',
  );
}

/**
 * The body of a request. Wrong options end the command.
 * @param members as options give them; those that are undefined are left out
 */
export async function bodyOf(
  members: Record<string, unknown>,
  { fromFile, passwordStdin }: BodyOptions,
  command: Command,
): Promise<string> {
  const [given] = Object.keys(members).filter((name) => members[name] !== undefined);
  if (fromFile === undefined) {
    if (given === undefined) command.error('error: a field or --from-file is required');
    return jsonText(members);
  }
  if (given !== undefined) {
    const option = command.options.find((one) => one.attributeName() === given)!.long!;
    command.error(`error: --from-file and ${option} exclude each other`);
  }
  if (fromFile === '-' && passwordStdin) {
    command.error('error: --from-file - and --password-stdin both read standard input');
  }
  return readText(fromFile);
}

/** The value of an option that `--no-…` clears. */
export function orNull<Value>(value: Value | false | undefined): Value | null | undefined {
  return value === false ? null : value;
}

/** JSON of an option, which is sent as it is written. Not parsed by commander, because its errors repeat the value. */
export function jsonOption(
  option: string,
  text: string | false | undefined,
  command: Command,
): RawJson | null | undefined {
  if (text === undefined) return undefined;
  if (text === false) return null;
  if (parsed(text) === undefined) command.error(`error: option '--${option}' must be JSON`);
  return new RawJson(text);
}
