import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from './apt.mjs';
import { takeLock } from './lock.mjs';
import { ROOT } from './settings.mjs';

/** Where the npm package's browser is unpacked. */
const DIR = join(ROOT, 'node_modules/.cache/chromium');
const UNPACK = `
  import chromium from '@sparticuz/chromium';
  process.stdout.write(await chromium.executablePath());`;

/**
 * The path of a Chromium: the npm package's, or Debian's if that one lacks a library. Safe to call from several
 * processes at once.
 * @returns {Promise<string>}
 * @throws {import('./problem.mjs').Problem} when it is missing and cannot be installed
 */
export async function requireBrowser() {
  mkdirSync(DIR, { recursive: true });
  const lock = await takeLock(join(DIR, '.lock'), () => undefined);
  try {
    // It unpacks itself into the directory for temporary files, which a test run deletes.
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
