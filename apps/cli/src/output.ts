import type { Command } from 'commander';

export interface OutputOptions {
  json?: true;
}

/** Gives every command that prints something `--json`. */
export function addJsonOption(command: Command): void {
  for (const one of command.commands) addJsonOption(one);
  if (command.commands.length > 0) return;
  command.option('--json', 'print an object of JSON for each line');
}

/**
 * Prints a result on standard output.
 * @param value the result with `--json`, as an object or as JSON text in one line
 * @param line the result for people
 */
export function print({ json }: OutputOptions, value: object | string, line: string): void {
  if (json) console.log(typeof value === 'string' ? value : JSON.stringify(value));
  else console.log(line);
}

/**
 * Prints a line for people alone, such as the headings of a list, on standard error: what reads standard output
 * gets rows only.
 */
export function tell({ json }: OutputOptions, line: string): void {
  if (!json) console.error(line);
}

/** A line of a table. */
export function row(...columns: readonly (readonly [text: string, width: number])[]): string {
  const cells = columns.map(([text, width]) =>
    width < 0 ? text.padStart(-width) : text.padEnd(width),
  );
  return cells.join('  ').trimEnd();
}
