// `npm test`: the tests, with a PostgreSQL and a Redis of their own that are gone afterwards.
import { inOwnDirectory, runTests } from './lib/own-directory.mjs';
import { prepare } from './lib/prepare.mjs';
import { requireNode, ROOT } from './lib/settings.mjs';
import { requireStores, startStores } from './lib/stores.mjs';

// Given stores are used as they are, as by npm start; DATABASE_URL is never one for tests.
const { TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl } = process.env;
const given = { databaseUrl, redisUrl };

inOwnDirectory(
  async () => {
    requireNode();
    requireStores(given);
    await prepare(ROOT);
  },
  async (run) => {
    const where = { dir: run.dir, root: ROOT, database: 'switchhook_test' };
    const stores = await startStores(where, given, run.children, run.onExit);
    run.env.TEST_DATABASE_URL = stores.databaseUrl;
    run.env.TEST_REDIS_URL = stores.redisUrl;
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/vitest.config.mjs'];
    return runTests(process.execPath, [...vitest, ...process.argv.slice(2)], run, ROOT);
  },
);
