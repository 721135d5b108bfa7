import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersPing, becomes, freePort } from './net.mjs';
import { Problem } from './problem.mjs';
import { runTask } from './tasks.mjs';

const APT_WAIT_MS = 300_000;
const APT_RETRY_MS = 2_000;
const START_MS = 10_000;
const ATTEMPTS = 3;

/** @throws Problem when there is no Redis and no way for us to get one */
export function requireRedis() {
  if (onPath('redis-server') || canInstall()) return;
  throw new Problem(
    'redis-server is missing and can be installed only by root on Debian or Ubuntu: ' +
      'install it, or set REDIS_URL to a Redis 6.2 or later.',
  );
}

/**
 * Starts a Redis that keeps nothing on disk: all that is in it can be rebuilt from PostgreSQL.
 * @param {string} dir its working directory
 * @param {import('./children.mjs').Children} children
 * @returns {Promise<{ url: string, exited: Promise<string> }>}
 */
export async function startRedis(dir, children) {
  if (!onPath('redis-server')) await installRedis();
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const args = ['--port', String(port), '--maxmemory-policy', 'noeviction', ...settings];
    const { exited } = children.start('redis', 'redis-server', args);
    const why = await becomes(() => answersPing(port), exited, START_MS);
    if (why === undefined) return { url: `redis://127.0.0.1:${port}`, exited };
    // The port was free a moment ago; somebody else may have been quicker.
    if (attempt === ATTEMPTS) throw children.failure('redis', why);
  }
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const canInstall = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

async function installRedis() {
  requireRedis();
  console.error('installing redis-server (apt-get) …');
  // Old lists may be good enough, so it is the installation that decides.
  await aptGet('update');
  const { code, output } = await aptGet('install', '-y', '--no-install-recommends', 'redis-server');
  if (onPath('redis-server')) return;
  console.error(output.trimEnd());
  throw new Problem(`redis-server could not be installed (apt-get exited with code ${code}).`);
}

/** apt waits for dpkg's lock when told so, but for the locks of its lists and archives never. */
async function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  // An interrupted dpkg leaves a system that refuses every further installation.
  const options = { env, uninterrupted: true };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  for (const deadline = Date.now() + APT_WAIT_MS; ; await sleep(APT_RETRY_MS)) {
    const result = await runTask('apt-get', [...wait, ...args], options);
    if (result.code === 0 || onPath('redis-server')) return result;
    if (result.output.includes('dpkg was interrupted')) {
      await runTask('dpkg', ['--configure', '-a'], options);
    } else if (!/could not get lock|unable to (lock|acquire)/i.test(result.output)) {
      return result;
    }
    if (Date.now() > deadline) return result;
  }
}
