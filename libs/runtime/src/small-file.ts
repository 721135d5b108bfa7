import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** More than the certificates of all public authorities. */
const MAX_BYTES = 1 << 20;

/**
 * Reads a text file that a setting names. Anything else may never end, such as `/dev/zero`, or never begin, such as a
 * FIFO without a writer.
 * @throws Error that says what is wrong with it
 */
export function readSmallFile(path: string): string {
  const bytes = readBytes(path);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('is not UTF-8');
  }
}

function readBytes(path: string): Buffer {
  let file: number | undefined;
  try {
    // Otherwise opening a FIFO would wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) throw new Error('is not a regular file');
    // Files of the kernel do not tell their size.
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > MAX_BYTES) throw new Error(`has more than ${MAX_BYTES} bytes`);
    return bytes.subarray(0, length);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new Error(`cannot be read (${code})`, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
