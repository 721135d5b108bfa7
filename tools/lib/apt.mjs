import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from './problem.mjs';
import { runTask } from './tasks.mjs';

const WAIT_MS = 300_000;
const RETRY_MS = 2_000;

/** Whether a program can be run by its name. @param {string} program */
export function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const canInstall = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/**
 * Installs a program from a Debian package.
 * @param {string} program @param {string} [pkg] its package, if the name differs
 * @throws Problem when the program is still missing afterwards
 */
export async function install(program, pkg = program) {
  console.error(`installing ${program} (apt-get) …`);
  // Stale package lists may suffice, so only the installation decides.
  await aptGet(program, 'update');
  const { code, output } = await aptGet(
    program,
    ...['install', '-y', '--no-install-recommends', pkg],
  );
  if (onPath(program)) return;
  console.error(output.trimEnd());
  throw new Problem(`${program} could not be installed (apt-get exited with code ${code}).`);
}

/**
 * Installs a program if it is missing.
 * @param {string} program @param {string} [pkg] as for {@link install}
 * @throws Problem when it cannot be installed
 */
export async function requireProgram(program, pkg) {
  if (onPath(program)) return;
  if (!canInstall()) {
    const how = 'is missing and can be installed only by root on Debian or Ubuntu: install it.';
    throw new Problem(`${program} ${how}`);
  }
  await install(program, pkg);
}

/**
 * apt can wait for dpkg's lock, but never waits for the locks of its lists and archives.
 * @param {string} program @param {string[]} args
 */
async function aptGet(program, ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  // An interrupted dpkg refuses every further installation.
  const options = { env, uninterrupted: true };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  for (const deadline = Date.now() + WAIT_MS; ;) {
    const result = await runTask('apt-get', [...wait, ...args], options);
    if (result.code === 0 || onPath(program)) return result;
    if (result.output.includes('dpkg was interrupted')) {
      await runTask('dpkg', ['--configure', '-a'], options);
    } else if (!/could not get lock|unable to (lock|acquire)/i.test(result.output)) {
      return result;
    }
    if (Date.now() > deadline) return result;
    await sleep(RETRY_MS);
  }
}
