import { spawnSync } from 'node:child_process';
import { requireProgram } from './apt.mjs';

/**
 * The path of a Chromium: the npm package's, or Debian's if that one lacks a library.
 * @returns {Promise<string>}
 * @throws {import('./problem.mjs').Problem} when it is missing and cannot be installed
 */
export async function requireBrowser() {
  const { default: chromium } = await import('@sparticuz/chromium');
  const own = await chromium.executablePath();
  if (spawnSync(own, ['--version']).status === 0) return own;
  await requireProgram('chromium');
  return '/usr/bin/chromium';
}
