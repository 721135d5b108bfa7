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
 * Creates a directory and its parents, private to this user. Not with mkdir's `recursive`, which never returns below
 * /proc on Node 20 and blocks signals.
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
 * Rewords a system error about a file in the data directory, or above it.
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
 * Reads a JSON file of ours.
 * @template Value
 * @param {string} file
 * @param {(value: any) => value is Value} isWhole
 * @param {string} advice what to do about a damaged file
 * @returns {Value | undefined} undefined if the file does not exist
 * @throws {Problem} when it is damaged
 */
export function readState(file, isWhole, advice) {
  const text = readText(file);
  if (text === undefined) return undefined;
  try {
    const value = /** @type {unknown} */ (JSON.parse(text));
    if (isWhole(value)) return value;
  } catch {
    // Treated like JSON of another shape.
  }
  throw new Problem(`${file} is damaged: ${advice}`);
}
