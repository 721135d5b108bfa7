import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { jsonErrorAt } from '#libs/kernel';
import { CommandFailure } from './failure.js';

/**
 * Reads a file of JSON.
 * @param file a path, or `-` for standard input
 * @throws CommandFailure
 */
export async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await (file === '-' ? buffer(process.stdin) : readFile(file));
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // NUL bytes never occur in JSON, but are every second byte of ASCII text in UTF-16.
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below.
  }
  throw new CommandFailure(`The text in ${nameOf(file)} is not UTF-8.`);
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The failure for a text that is not JSON. It contains no part of the text, which may include passwords. */
export function notJson(what: string, text: string): CommandFailure {
  const before = text.slice(0, jsonErrorAt(text)).split('\n');
  const column = before.at(-1)!.length + 1;
  return new CommandFailure(`${what} is not JSON (line ${before.length}, column ${column}).`);
}

/** The file's name in messages. */
export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/**
 * Reads a password from standard input, where other users of the machine cannot see it. Removes one trailing line
 * break.
 */
export async function readPassword(): Promise<string> {
  const bytes = await buffer(process.stdin);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new CommandFailure('The password on standard input is not UTF-8.');
  }
}
