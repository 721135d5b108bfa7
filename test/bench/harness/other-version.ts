import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/settings';
import { ratios, type Row } from './scenario.js';

/**
 * Builds another version of the product in `dir`.
 * @param ref a commit, tag or branch @returns the root of the build
 */
export function buildOf(ref: string, dir: string): string {
  mkdirSync(dir);
  const run = (command: string, args: string[], cwd: string, input?: Buffer): Buffer =>
    execFileSync(command, args, {
      cwd,
      input,
      stdio: ['pipe', 'pipe', 'inherit'],
      maxBuffer: 2 ** 30,
    });
  run('tar', ['-x'], dir, run('git', ['archive', ref], ROOT));
  const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(dir) === lock(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  else run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], dir);
  run('npm', ['run', '--silent', 'build'], dir);
  return dir;
}

/** The rows of this version, each followed by its ratio to the other one. */
export function compared(ref: string, rows: readonly Row[], others: readonly Row[]): Row[] {
  return rows.flatMap((row) => {
    const other = others.find(({ what }) => what === row.what);
    if (!other) return [row];
    const values = ratios(row.values, other.values);
    const what = `${row.what}: of ${ref}'s`;
    return [row, { what, values, unit: '', ...(row.isDetail && { isDetail: true }) }];
  });
}
