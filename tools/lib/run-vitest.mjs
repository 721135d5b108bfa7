import { inOwnDirectory, runTests } from './own-directory.mjs';
import { prepare } from './prepare.mjs';
import { requireNode } from './settings.mjs';
import { requireStores, startStores } from './stores.mjs';

/**
 * Runs Vitest with a PostgreSQL and a Redis that are gone afterwards; then exits. What single tests need beyond them,
 * such as a browser, they get themselves.
 * @param {string[]} args for Vitest
 * @param {Record<string, string>} [env] more variables for the tests
 */
export function runVitest(args, env = {}) {
  // Given stores are used as they are, as by npm start; DATABASE_URL is never one for tests.
  const { TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl } = process.env;
  const given = { databaseUrl, redisUrl };
  inOwnDirectory(
    async () => {
      requireNode();
      requireStores(given);
      await prepare({ withChecks: true });
    },
    async (run) => {
      // The data need not survive a crash.
      const settings = { fsync: 'off', full_page_writes: 'off' };
      const where = { dir: run.dir, database: 'switchhook_test', settings };
      const stores = await startStores(where, given, run.children, run.watch);
      run.env.TEST_DATABASE_URL = stores.databaseUrl;
      run.env.TEST_REDIS_URL = stores.redisUrl;
      Object.assign(run.env, env);
      const vitest = [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--config',
        'tools/vitest.config.mjs',
      ];
      return runTests(process.execPath, [...vitest, ...args], run);
    },
  );
}
