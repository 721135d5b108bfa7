import { mkdirSync, statSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { codeOf, readText } from './processes.mjs';
import { Problem } from './problem.mjs';

/** @type {Record<string, string>} */
const REASONS = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'nothing can be created there',
  EEXIST: 'it is not a directory',
  ENOTDIR: 'it is not a directory, or lies below something that is not one',
  ENOSPC: 'no space is left',
};

/**
 * Makes a directory and those above it, for us alone. Not by mkdir's `recursive`, which never
 * returns below /proc on Node 20 and takes no signal meanwhile.
 * @param {string} dir
 */
export function makeDirectory(dir) {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
    const parent = dirname(dir);
    if (code !== 'ENOENT' || statSync(parent, { throwIfNoEntry: false })) throw error;
    makeDirectory(parent);
    mkdirSync(dir, { mode: 0o700 });
  }
}

/**
 * A sentence in place of what the system says of a file in the data directory, or above it.
 * @param {unknown} error @param {string} dir
 */
export function asProblem(error, dir) {
  const { path, code } = /** @type {NodeJS.ErrnoException} */ (error);
  if (path === undefined || code === undefined || error instanceof Problem) return error;
  const isAbove = `${dir}${sep}`.startsWith(`${path}${sep}`);
  if (!isAbove && !path.startsWith(`${dir}${sep}`)) return error;
  const where = isAbove ? '' : ` (${relative(dir, path)})`;
  const reason = REASONS[code] ?? code;
  return new Problem(`DATA_DIR ${dir} cannot be used: ${reason}${where}. Choose another DATA_DIR.`);
}

/**
 * Reads a file in which we keep JSON.
 * @template Value
 * @param {string} file
 * @param {(value: any) => value is Value} isWhole
 * @param {string} advice what to do about a file that is damaged
 * @returns {Value | undefined} undefined when there is none
 * @throws {Problem} when it is damaged
 */
export function readState(file, isWhole, advice) {
  const text = readText(file);
  if (text === undefined) return undefined;
  try {
    const value = /** @type {unknown} */ (JSON.parse(text));
    if (isWhole(value)) return value;
  } catch {
    // The same as a value of another shape.
  }
  throw new Problem(`${file} is damaged: ${advice}`);
}
