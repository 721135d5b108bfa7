import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from './apt.mjs';
import { takeLock } from './lock.mjs';
import { ROOT } from './settings.mjs';

/** Where the browser of our package is unpacked. */
const DIR = join(ROOT, 'node_modules/.cache/chromium');
const UNPACK = `
  import chromium from '@sparticuz/chromium';
  process.stdout.write(await chromium.executablePath());`;

/**
 * The path of a Chromium: the one of our package, or Debian's where that one lacks a library. Several processes may
 * ask at the same time.
 * @returns {Promise<string>}
 * @throws {import('./problem.mjs').Problem} when there is none, and we cannot install it
 */
export async function requireBrowser() {
  mkdirSync(DIR, { recursive: true });
  const lock = await takeLock(join(DIR, '.lock'), () => undefined);
  try {
    // It is unpacked to the directory of temporary files, which tests delete at their end.
    const options = { cwd: ROOT, env: { ...process.env, TMPDIR: DIR } };
    const args = ['--input-type=module', '--eval', UNPACK];
    const own = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' }).stdout;
    if (own && spawnSync(own, ['--version']).status === 0) return own;
    await requireProgram('chromium');
    return '/usr/bin/chromium';
  } finally {
    lock.release();
  }
}
