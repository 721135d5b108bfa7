import { type Command, Option } from 'commander';
import { jsonText, RawJson } from '#libs/kernel';
import { parsed, readText } from './input.js';

export interface BodyOptions {
  fromFile?: string;
  passwordStdin?: true;
}

/** A member of a request body, which an option of the same name gives. */
export interface FieldOption {
  /** Such as `<url>`; absent for a switch. */
  value?: string;
  does: string;
  choices?: readonly string[];
  parse?: (text: string) => unknown;
  /** What `--no-…` does when the resource is changed: it clears the field. */
  clear?: string;
  /** What `--no-…` of a switch does. */
  unset?: string;
  /** Reads what commander must not parse, because its errors repeat the value. */
  read?: (text: string, option: string, command: Command) => unknown;
}

/** By the names of the members. */
export type FieldOptions = Readonly<Record<string, FieldOption>>;

/** `voice-url` of `voiceUrl` */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Adds an option for each field, and one that sends a file instead. */
export function withFields(command: Command, fields: FieldOptions): Command {
  for (const [name, { value, does, choices, parse, unset }] of Object.entries(fields)) {
    const flag = flagOf(name);
    const option = new Option(`--${flag}${value === undefined ? '' : ` ${value}`}`, does);
    if (choices) option.choices(choices);
    if (parse) option.argParser(parse);
    command.addOption(option);
    if (unset !== undefined) command.option(`--no-${flag}`, unset);
  }
  return command.option(
    '--from-file <file>',
    'send a JSON object as it is, instead of the fields above; - for standard input',
  );
}

/** The body of a request. Members without an option are left out. Wrong options end the command. */
export async function bodyOf(
  fields: FieldOptions,
  options: BodyOptions,
  command: Command,
): Promise<string> {
  const { fromFile } = options;
  const given = Object.entries(fields).flatMap(([name, field]) => {
    const value: unknown = command.getOptionValue(name);
    return value === undefined ? [] : [[name, memberOf(value, name, field, command)] as const];
  });
  const [first] = given;
  if (fromFile === undefined) {
    if (!first) command.error('error: a field or --from-file is required');
    return jsonText(Object.fromEntries(given));
  }
  if (first) command.error(`error: --from-file and --${flagOf(first[0])} exclude each other`);
  refuseSharedInput(options, command);
  return readText(fromFile);
}

function memberOf(
  value: unknown,
  name: string,
  { clear, read }: FieldOption,
  command: Command,
): unknown {
  if (value === false && clear !== undefined) return null;
  return read && typeof value === 'string' ? read(value, flagOf(name), command) : value;
}

/** Standard input cannot be both the file and the password. */
export function refuseSharedInput(
  { fromFile, passwordStdin }: BodyOptions,
  command: Command,
): void {
  if (fromFile === '-' && passwordStdin) {
    command.error('error: --from-file - and --password-stdin both read standard input');
  }
}

/** JSON of an option, which is sent as it is written. Not parsed by commander, because its errors repeat the value. */
export function readJson(text: string, option: string, command: Command): RawJson {
  if (parsed(text) === undefined) command.error(`error: option '--${option}' must be JSON`);
  return new RawJson(text);
}
