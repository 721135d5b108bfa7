import { createReadStream } from 'node:fs';
import { jsonErrorAt } from '#libs/kernel';
import { CommandFailure } from './failure.js';

/** A text cannot have more than 512 MiB in JavaScript. */
const MAX_FILE_MIB = 256;
/** More than a password may have. */
const MAX_PASSWORD_BYTES = 4_096;

/**
 * Reads a file of JSON.
 * @param file a path, or `-` for standard input
 * @throws CommandFailure
 */
export async function readText(file: string): Promise<string> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readBytes(file, MAX_FILE_MIB << 20);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (!bytes) throw new CommandFailure(`${nameOf(file)} has more than ${MAX_FILE_MIB} MiB.`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // NUL bytes never occur in JSON, but are every second byte of ASCII text in UTF-16.
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below.
  }
  throw new CommandFailure(`The text in ${nameOf(file)} is not UTF-8.`);
}

/** @returns undefined if it has more bytes than `most`, as `/dev/zero` has */
async function readBytes(file: string, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > most) return undefined;
  }
  return Buffer.concat(chunks);
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
  const bytes = await readBytes('-', MAX_PASSWORD_BYTES);
  if (!bytes) throw new CommandFailure('The password on standard input is too long.');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new CommandFailure('The password on standard input is not UTF-8.');
  }
}
