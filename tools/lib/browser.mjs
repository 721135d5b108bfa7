import { spawnSync } from 'node:child_process';
import { requireProgram } from './apt.mjs';

/**
 * The path of a Chromium: the one of our package, or Debian's where that one lacks a library.
 * @returns {Promise<string>}
 * @throws {import('./problem.mjs').Problem} when there is none, and we cannot install it
 */
export async function requireBrowser() {
  const { default: chromium } = await import('@sparticuz/chromium');
  const own = await chromium.executablePath();
  if (spawnSync(own, ['--version']).status === 0) return own;
  await requireProgram('chromium');
  return '/usr/bin/chromium';
}
