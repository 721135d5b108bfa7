import { canInstall, install, onPath } from './apt.mjs';
import { answersPing, freePort } from './net.mjs';
import { Problem } from './problem.mjs';

const START_MS = 10_000;
const ATTEMPTS = 3;

/** @throws Problem if Redis is missing and cannot be installed */
export function requireRedis() {
  if (onPath('redis-server') || canInstall()) return;
  throw new Problem(
    'redis-server is missing and can be installed only by root on Debian or Ubuntu: ' +
      'install it, or set REDIS_URL to a Redis 6.2 or later.',
  );
}

/**
 * Starts a Redis without persistence: its contents can be rebuilt from PostgreSQL.
 * @param {string} dir its working directory
 * @param {import('./programs.mjs').Programs} programs
 * @param {number} [fixedPort] by default a free one
 * @returns {Promise<{ url: string, program: import('./programs.mjs').Program }>}
 */
export async function startRedis(dir, programs, fixedPort) {
  if (!onPath('redis-server')) {
    requireRedis();
    await install('redis-server');
  }
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await freePort());
    const args = ['--port', String(port), '--maxmemory-policy', 'noeviction', ...settings];
    const program = programs.start('redis', 'redis-server', args);
    try {
      await program.ready(() => answersPing(port), START_MS);
      return { url: `redis://127.0.0.1:${port}`, program };
    } catch (error) {
      // The port was free a moment ago, but another process may have taken it.
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
