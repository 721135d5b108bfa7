import { CommanderError } from 'commander';

const FAILED = 1;
const WRONG_ARGUMENT = 2;
const UNDEFINED_TABLE = '42P01';

/** A failed command, with a one-sentence message for people. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** 0 after `--help` and `--version`, 2 for a wrong argument, otherwise 1. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CommanderError)) return FAILED;
  return error.exitCode === 0 ? 0 : WRONG_ARGUMENT;
}

/** The lines to print for an error; none for errors that commander has printed. */
export async function describeFailure(error: unknown): Promise<string[]> {
  if (error instanceof CommanderError) return [];
  if (error instanceof CommandFailure) return [error.message];
  // Loaded lazily: it takes half a second, which is long for a command without a database.
  const { ValidationError } = await import('#libs/kernel');
  const { codeOf, firstLine, InvalidConfigError, isAway, UnusableDatabaseError } =
    await import('#libs/runtime');
  if (error instanceof InvalidConfigError) return [error.message];
  if (error instanceof ValidationError) {
    return error.faults.map(({ field, message }) =>
      // Only the pointer identifies the element.
      field.startsWith('/') ? `${field}: ${message}` : message,
    );
  }
  if (codeOf(error) === UNDEFINED_TABLE) return ['The database is not up to date: run migrate.'];
  if (error instanceof UnusableDatabaseError)
    return [`PostgreSQL cannot be used: ${error.message}.`];
  if (isAway(error)) return [`PostgreSQL cannot be reached (${firstLine(error)}).`];
  return [firstLine(error)];
}
