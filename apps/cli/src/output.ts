import type { Command } from 'commander';
import { BIDI_CONTROLS } from '#libs/kernel';

export interface OutputOptions {
  json?: true;
}

/** Adds `--json` to every command that prints a result. */
export function addJsonOption(command: Command): void {
  for (const one of command.commands) addJsonOption(one);
  if (command.commands.length > 0) return;
  command.option('--json', 'print one JSON object per line');
}

const CONTROLS = new RegExp(`[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f${BIDI_CONTROLS}]`, 'g');

/**
 * Escapes characters that would control the terminal or reorder its text, as in JSON strings, so that escaped JSON
 * keeps its value. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/**
 * Like {@link printable}, but also escapes line breaks, so that foreign text cannot look like a line of the command.
 */
export function inOneLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Prints a result on standard output.
 * @param value the result with `--json`, as an object or as JSON text in one line
 * @param line the result for people
 */
export function print({ json }: OutputOptions, value: object | string, line: string): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  console.log(printable(json ? text : line));
}

/** Prints a line for people, such as a heading, on standard error, so that standard output has only rows. */
export function tell({ json }: OutputOptions, line: string): void {
  if (!json) complain(line);
}

/** Prints a line on standard error. */
export function complain(line: string): void {
  console.error(printable(line));
}

/** The word for this many things. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** A row of a table. */
export function row(...columns: readonly (readonly [text: string, width: number])[]): string {
  const cells = columns.map(([text, width]) =>
    width < 0 ? text.padStart(-width) : text.padEnd(width),
  );
  return cells.join('  ').trimEnd();
}
