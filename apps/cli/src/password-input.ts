import { buffer } from 'node:stream/consumers';
import { CommandFailure } from './failure.js';

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
